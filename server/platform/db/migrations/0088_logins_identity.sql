-- compatible_from: 0076
create unique index concurrently logins_identity on logins (issuer, subject);
