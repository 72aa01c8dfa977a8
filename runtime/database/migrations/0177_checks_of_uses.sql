-- each environment
-- Results of the network's checks of a card use, which spending controls can require.

ALTER TABLE card_transactions ADD COLUMN checks json;
