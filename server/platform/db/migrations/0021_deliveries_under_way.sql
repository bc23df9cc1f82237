-- Attempts under way are few; how many of them an account has is asked before each claim.
create index deliveries_under_way on deliveries (account_id, channel) where status = 'sending';
