-- compatible_from: 0076
-- null: the default, which is on
alter table agents add column ai_notice jsonb;
