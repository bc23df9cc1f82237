/** The configuration of the servers of test/mail-servers.ts. */
export type ServerOptions = {
  folder: string
  /** Where the mail server asks whose an access token is (XOAUTH2); without it, there are only passwords. */
  introspectionUrl?: string | undefined
  uid: number
  gid: number
  password: string
  ports: { smtp: number; submission: number; smtps: number; imap: number; imaps: number }
}

export const dovecotConfig = ({
  folder,
  uid,
  gid,
  password,
  ports,
  introspectionUrl,
}: ServerOptions): string => `
protocols = imap
base_dir = ${folder}/run
log_path = ${folder}/run/dovecot.log
listen = 127.0.0.1
default_internal_user = dovecot
default_internal_group = dovecot
default_login_user = dovecot
first_valid_uid = 1
first_valid_gid = 1
ssl = yes
ssl_cert = <${folder}/certificates/used.pem
ssl_key = <${folder}/certificates/used.key
disable_plaintext_auth = no
auth_mechanisms = plain login${introspectionUrl ? ' xoauth2' : ''}
auth_failure_delay = 0
mail_location = maildir:~/Maildir
mail_max_userip_connections = 50
mail_plugins = quota
protocol imap {
  mail_plugins = quota imap_quota
}
plugin {
  quota = maildir:User quota
  quota_grace = 0%%
}
service anvil {
  chroot =
}
service auth {
  unix_listener auth-postfix {
    mode = 0666
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${ports.imaps}
    ssl = yes
  }
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    special_use = \\Sent
    auto = subscribe
  }
}
${introspectionUrl ? `passdb {\n  driver = oauth2\n  mechanisms = xoauth2\n  args = ${folder}/oauth2.conf\n}` : ''}
passdb {
  driver = static
  mechanisms = plain login
  args = password=${password}
}
userdb {
  driver = passwd-file
  args = ${folder}/quotas
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}/mail/%n
}
`

/** The user who may keep little. */
export const quotas = ({ folder, uid, gid }: Pick<ServerOptions, 'folder' | 'uid' | 'gid'>): string =>
  `full::${uid}:${gid}::${folder}/mail/full::userdb_quota_rule=*:bytes=${QUOTA}\n`

/** Bytes of the mailbox of the user "full". */
const QUOTA = 100_000

/** Dovecot asks the provider whose a token is, and lets the person into the mailbox of that address. */
export const oauthConfig = (introspectionUrl: string): string => `
introspection_mode = get
introspection_url = ${introspectionUrl}?token=
username_attribute = email
active_attribute = active
active_value = true
`

const SERVICES = `
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`

/** Everybody with a mailbox: mail to such an address in both domains goes into the folder of the name. */
const USERS = [
  'customer',
  'support',
  'info',
  'billing',
  'ann',
  'ben',
  'cleo',
  'dora',
  'emil',
  'finn',
  'gina',
  'hugo',
  'full',
]
const DOMAINS = ['test.example', 'people.example']

/** Who has logged in may only send from the own address. */
export const postfixConfig = ({ folder, uid, gid, ports }: ServerOptions): Record<string, string> => ({
  'main.cf': `
compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
maillog_file = ${folder}/postfix.log
maillog_file_prefixes = ${folder}
mail_owner = postfix
setgid_group = postdrop
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.test.example
mydestination =
alias_maps =
mynetworks = 127.0.0.0/8
smtp_host_lookup = native
recipient_delimiter = +
message_size_limit = 60000000
mailbox_size_limit = 0
virtual_mailbox_limit = 0
virtual_mailbox_domains = ${DOMAINS.join(', ')}
virtual_mailbox_base = ${folder}/mail
virtual_mailbox_maps = texthash:${folder}/postfix/boxes
virtual_alias_maps = inline:{ { sales@test.example = support@test.example } }
transport_maps = inline:{ ${DOMAINS.map((domain) => `{ full@${domain} = keep: }`).join(' ')} }
virtual_minimum_uid = 1
virtual_uid_maps = static:${uid}
virtual_gid_maps = static:${gid}
smtpd_tls_security_level = may
smtpd_tls_cert_file = ${folder}/certificates/used.pem
smtpd_tls_key_file = ${folder}/certificates/used.key
smtpd_sasl_type = dovecot
smtpd_sasl_path = ${folder}/run/auth-postfix
smtpd_sender_login_maps = texthash:${folder}/postfix/logins
smtpd_client_connection_rate_limit = 0
`,
  boxes: USERS.flatMap((name) => DOMAINS.map((domain) => `${name}@${domain} ${name}/Maildir/`)).join('\n'),
  // With a token, the address itself is the login.
  logins: USERS.map((name) => `${name}@test.example ${name}, ${name}@test.example`).join('\n'),
  'master.cf': `
127.0.0.1:${ports.smtp} inet n - n - - smtpd
127.0.0.1:${ports.submission} inet n - n - - smtpd ${SUBMISSION}
127.0.0.1:${ports.smtps} inet n - n - - smtpd ${SUBMISSION} -o smtpd_tls_wrappermode=yes
${SERVICES}
keep unix - n n - - pipe flags=DRhu user=dovecot argv=/usr/lib/dovecot/dovecot-lda -e -c ${folder}/dovecot.conf -f \${sender} -d full
`,
})

const SUBMISSION =
  '-o smtpd_sasl_auth_enable=yes -o smtpd_relay_restrictions=permit_sasl_authenticated,reject -o smtpd_sender_restrictions=reject_sender_login_mismatch'
