-- each environment
-- A scan of a rotating barcode can read a code that is not the current one.
-- contract: 0022_scans

ALTER TABLE scans DROP CONSTRAINT scans_result_check;
ALTER TABLE scans ADD CONSTRAINT scans_result CHECK (
  result IN ('accepted', 'already_redeemed', 'not_redeemable', 'expired', 'revoked', 'outdated_code', 'unknown')) NOT VALID;
