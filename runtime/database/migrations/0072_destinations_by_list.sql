-- each environment, concurrently
-- For the screening of everybody's active destinations against a new list, and of one tenant's.
CREATE INDEX payout_destinations_by_list ON payout_destinations (list_number) WHERE status = 'active';
CREATE INDEX payout_destinations_by_list_of ON payout_destinations (tenant_id, list_number) WHERE status = 'active';
