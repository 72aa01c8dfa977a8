-- each environment
-- What is exact in every language; requests are refused before, at what the documents can show.

ALTER TABLE settlements ADD CONSTRAINT settlements_bounds CHECK (
  abs(transaction_amount) <= 9007199254740991 AND abs(interchange_amount) <= 9007199254740991
  AND abs(fees_amount) <= 9007199254740991 AND abs(net_amount) <= 9007199254740991) NOT VALID;
