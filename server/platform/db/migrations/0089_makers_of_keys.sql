-- compatible_from: 0076
update api_keys
set created_by = audit_log.actor
from audit_log
where audit_log.account_id = api_keys.account_id
  and audit_log.action = 'key.create'
  and audit_log.target = api_keys.id::text;
