import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { it } from 'node:test';

import { LEAD_EVENT_TYPES } from '#server/platform/lead-event-types.ts';
import type { DeskUser } from '#server/settings/setting-values.ts';
import { type Config, readConfig } from '#server/settings/settings.ts';

type Env = Readonly<Record<string, string>>;

const FOLDER = '/srv/page';

const read = (env: Env) => {
  const result = readConfig(env, FOLDER);
  assert(result.type === 'config', JSON.stringify(result));
  return result;
};
const configOf = (env: Env): Config => read(env).config;

const mistakesOf = (env: Env): readonly string[] => {
  const result = readConfig(env, FOLDER);
  assert(result.type === 'mistakes');
  return result.mistakes;
};

const written = (env: Env) =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${value.length > 80 ? `${value.slice(0, 80)}…` : value}`)
    .join(' ');

const SECRET = { APP_SECRET: 's'.repeat(32) };
const postgres = (url: string, env: Env = {}): Env => ({
  ...SECRET,
  DATABASE_URL: `postgres:${url}`,
  ...env,
});
const each = (name: string, ...values: readonly string[]): Env[] =>
  values.map((value) => ({ [name]: value }));
const webhookSecret = `whsec_${Buffer.from('s'.repeat(24)).toString('base64')}`;
const publicKeyOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64');
const SAME_PORT = { PORT: '3000', METRICS_PORT: '3000' };
const DAILY = { NEW_LEAD_EMAIL: 'daily', OPERATOR_EMAIL: 'you@example.com' };
const AT_HOME = { WEBHOOK_URLS: 'http://10.0.0.1:5678/x http://n8n:5678/x', WEBHOOK_ALLOW_PRIVATE: 'yes' };
const DESK = {
  DESK_URL: 'https://Desk.example.com/',
  DESK_PEOPLE: 'ada@example.com:all',
  TRUST_PROXY: '1',
};
const PAGE = 'https://guide.example.com';
const WITH_PATH = { publicUrl: 'https://example.com/en/ai-guide_2.0', basePath: '/en/ai-guide_2.0' };
const sqliteAt = (file: string) => ({ database: { engine: 'sqlite', file } as const });
const deskAt = (url: string, people: Record<string, DeskUser>) => ({
  desk: { url, port: 3001, people: new Map(Object.entries(people)) },
});
const webhooks = (changes: Partial<Config['webhooks']>) => ({
  webhooks: { urls: [], events: LEAD_EVENT_TYPES, secrets: [], allowPrivate: false, ...changes },
});
const mailFrom = (name: string, address: string) => ({ mailFrom: { name, address } });

const TAKEN: readonly (readonly [env: Env, config: Partial<Config>])[] = [
  [
    { PORT: '8080', HOST: '' },
    { port: 8080, host: '127.0.0.1' },
  ],
  [{ HOST: '::1' }, { host: '::1' }],
  [{ PUBLIC_URL: `${PAGE}/` }, { publicUrl: PAGE, basePath: '', secure: true }],
  [{ PUBLIC_URL: 'https://example.com/en/ai-guide_2.0/' }, WITH_PATH],
  [{ ...SAME_PORT, LISTEN_FDS: '1' }, {}],
  [{ PORT: '0', METRICS_PORT: '0' }, {}],
  [{ DATABASE_URL: 'file:./data/leads.db' }, sqliteAt(`${FOLDER}/data/leads.db`)],
  [{ DATABASE_URL: 'file:/var/lib/leads.db' }, sqliteAt('/var/lib/leads.db')],
  [{ DATABASE_URL: 'file:///var/lib/leads.db' }, sqliteAt('/var/lib/leads.db')],
  [{ APP_SECRET: `${'n'.repeat(32)}, ${'o'.repeat(40)}` }, { appSecrets: ['n'.repeat(32), 'o'.repeat(40)] }],
  [{ CODE_TTL_SECONDS: '300' }, { codeTtlSeconds: 300 }],
  [{ RETENTION_DAYS: '9' }, { retention: { unverifiedDays: 9, mailDays: 9 } }],
  [{ RETENTION_DAYS: '0', MAIL_RETENTION_DAYS: '10' }, { retention: { unverifiedDays: 0, mailDays: 10 } }],
  [{ TRUST_PROXY: '0' }, { trustProxy: false }],
  [{ TRUST_PROXY: '2' }, { trustProxy: 2 }],
  [
    { TRUST_PROXY: '10.0.0.0/8, 2001:db8::/32,127.0.0.1' },
    { trustProxy: ['10.0.0.0/8', '2001:db8::/32', '127.0.0.1'] },
  ],
  [{ ...DAILY, NEW_LEAD_EMAIL_AT: '18:05' }, { newLeadEmailAtMs: 65_100_000 }],
  [{ TIME_ZONE: 'Europe/Berlin' }, { timeZone: 'Europe/Berlin' }],
  [
    { OPERATOR_EMAIL: 'ada@example.com,bob@bücher.example, Ada@Example.com,' },
    { operatorEmails: ['Ada@Example.com', 'bob@bücher.example'] },
  ],
  [{ MAIL_FROM: '<guide@example.com>' }, mailFrom('', 'guide@example.com')],
  [{ MAIL_FROM: 'root@localhost' }, mailFrom('', 'root@localhost')],
  [{ MAIL_FROM: 'Acme: The Guide <guide@example.com>' }, mailFrom('Acme: The Guide', 'guide@example.com')],
  [{ MAIL_FROM: '"Acme, \\"Inc.\\"" <guide@example.com>' }, mailFrom('Acme, "Inc."', 'guide@example.com')],
  [
    { MAIL_FROM: 'Anna’s “best” guide <anna+news@exämple.com>' },
    mailFrom('Anna’s “best” guide', 'anna+news@exämple.com'),
  ],
  [{ BOUNCE_DOMAIN: 'Bounces.Example.com' }, { bounceDomain: 'bounces.example.com' }],
  [
    {
      WEBHOOK_URLS: `https://hooks.example.com/a,  https://user:pass@b.example\thttps://hooks.example.com/a`,
      WEBHOOK_SECRET: `${webhookSecret},${webhookSecret}`,
    },
    webhooks({
      urls: ['https://hooks.example.com/a', 'https://user:pass@b.example/'],
      secrets: [webhookSecret, webhookSecret],
    }),
  ],
  [
    { ...AT_HOME, WEBHOOK_EVENTS: 'lead.erased, lead.verified' },
    webhooks({
      urls: ['http://10.0.0.1:5678/x', 'http://n8n:5678/x'],
      events: ['lead.verified', 'lead.erased'],
      allowPrivate: true,
    }),
  ],
  [
    { ...DESK, DESK_PEOPLE: 'Ada@Example.com:all,  bob@bücher.example:passkey' },
    deskAt('https://desk.example.com', {
      'ada@example.com': { role: 'all', passkeyOnly: false },
      'bob@xn--bcher-kva.example': { role: 'read', passkeyOnly: true },
    }),
  ],
  [
    { DESK_URL: 'http://127.0.0.1:3001', DESK_PEOPLE: 'ada@example.com' },
    deskAt('http://127.0.0.1:3001', { 'ada@example.com': { role: 'read', passkeyOnly: false } }),
  ],
  [postgres('//user:pass@db/leads?sslmode=no-verify'), {}],
  [postgres('//user:pass@db/leads', { PGSSLMODE: 'require' }), {}],
  [postgres('//user:pass@127.0.0.1/leads'), {}],
  [postgres('//user:pass@%2Frun%2Fpostgresql/leads'), {}],
  [postgres('///leads?host=/run/postgresql&password=pass'), {}],
  [postgres('//user:pass@[2001:db8::5]:5433/leads?sslmode=verify-full'), {}],
  [postgres('//db/leads?sslmode=verify-full&options=-c%20search_path%3Dx&application_name=y'), {}],
  [{ SMTP_URL: 'smtp://mail.example.com' }, {}],
  [postgres('//host/leads?user=me@example.com'), {}],
  [{ SMTP_URL: 'smtps://user:pa%23ss@host:25/?x=a@b' }, {}],
  [{ SMTP_URL: 'smtps://me%40example.com:pass@host' }, {}],
  [{ SMTP_URL: 'smtp://user:pass@mail.example.com?requireTLS=true&ignoreTLS=true' }, {}],
  [{ SMTP_URL: 'smtps://user:pass@mail.example.com?ignoreTLS=true' }, {}],
  [{ SMTP_URL: 'smtp://user:pass@localhost?ignoreTLS=true' }, {}],
];

const REFUSED: readonly (readonly [mistake: RegExp, ...envs: readonly Env[]])[] = [
  [/^PORT must be a whole number from 0 to 65535\.$/, { PORT: '70000' }],
  [/^LEADS_PER_IP_PER_HOUR must be a whole number from 0 /, { LEADS_PER_IP_PER_HOUR: '-1' }],
  [/^CODE_TTL_SECONDS must be a whole number from 1 to 86400\.$/, { CODE_TTL_SECONDS: '10 minutes' }],
  [/^LOG_LEVEL must be fatal, error/, { LOG_LEVEL: 'loud' }],
  [/^APP_SECRET must have at least 32 random characters/, { APP_SECRET: 'hunter2' }],
  [/^METRICS_PORT must differ from PORT, because both would listen on 3000\.$/, SAME_PORT],
  [/^PUBLIC_URL must be a URL such as https:/, { PUBLIC_URL: 'guide.example.com' }],
  [
    /^PUBLIC_URL must be only the URL of the page/,
    ...['//guide', '/guide?x', '/guide#x', '/a/../b', '/gu%69de', '/führer', '\\gu%69de'].map((end) => ({
      PUBLIC_URL: `https://example.com${end}`,
    })),
    { PUBLIC_URL: 'https://ada:hunter2@example.com' },
  ],
  [
    /^TRUST_PROXY must be a number of proxies/,
    ...each('TRUST_PROXY', 'true', '10.0.0.0/33', '10.0.0/8', '::/129', '-1', 'example.com', '1,2'),
  ],
  [
    /^RETENTION_DAYS must be a whole number of days from 9, or 0 to keep data forever, because limits and the breaker need the data of that many days\.$/,
    ...each('RETENTION_DAYS', '8', '-1', '30.5', 'a month'),
  ],
  [
    /^MAIL_RETENTION_DAYS must not be more than RETENTION_DAYS, because an e-mail is not kept for longer than its code\.$/,
    ...each('MAIL_RETENTION_DAYS', '31', '0'),
  ],
  [
    /^OPERATOR_EMAIL must also be set, because NEW_LEAD_EMAIL reports new leads to those addresses\.$/,
    { NEW_LEAD_EMAIL: 'each' },
  ],
  [
    /^TIME_ZONE must be the name of a time zone, such as Europe\/Berlin or America\/New_York\.$/,
    ...['Berlin', 'Europe/Berlinn', '+01:00', 'GMT+25'].map((zone) => ({ TIME_ZONE: zone })),
  ],
  [
    /^NEW_LEAD_EMAIL_AT must be a time of day, such as 07:00\.$/,
    ...['7:00', '24:00', '07:60', '7 am'].map((time) => ({ ...DAILY, NEW_LEAD_EMAIL_AT: time })),
  ],
  [/^NEW_LEAD_EMAIL must be off, each, daily or weekly/, { ...DAILY, NEW_LEAD_EMAIL: 'monthly' }],
  [
    /^(?:MAIL_FROM must be a single e-mail address|OPERATOR_EMAIL must be e-mail addresses separated by commas).*, such as \S+@example\.com.*"mailto:" or ";"(?:\. Entry 2 is not valid)?\.$/,
    ...[
      'guide@example.com;',
      'mailto:guide@example.com',
      'guide@example..com',
      'guide@-example.com',
      'a@example.com, b@example.com',
      'guide@example.com Guide',
      'nobody',
    ].flatMap((wrong) => [
      { MAIL_FROM: wrong },
      { MAIL_FROM: `Guide <${wrong}>` },
      ...(wrong.includes(',') ? [] : [{ OPERATOR_EMAIL: `you@example.com, ${wrong}` }]),
    ]),
  ],
  [
    /^MAIL_FROM contains curly quotes\. Write the name without quotes, such as Guide <guide@example\.com>\.$/,
    { MAIL_FROM: '“Guide” <guide@example.com>' },
    { MAIL_FROM: '‘Guide’ <guide@example.com>' },
  ],
  [
    /^BOUNCE_DOMAIN must be a domain/,
    ...each('BOUNCE_DOMAIN', 'bounces@example.com', 'localhost', `${'a.'.repeat(100)}example.com`),
  ],
  [
    /^MAIL_EVENTS_SES_TOPIC must be the ARN/,
    ...each('MAIL_EVENTS_SES_TOPIC', 'guide-mail', 'arn:aws:sns:evil.example/x:123456789012:guide'),
  ],
  [/^MAIL_EVENTS_POSTMARK_LOGIN must/, { MAIL_EVENTS_POSTMARK_LOGIN: 'postmark:short' }],
  [
    /^MAIL_EVENTS_SENDGRID_KEY must be the verification key/,
    ...each('MAIL_EVENTS_SENDGRID_KEY', 'nonsense', publicKeyOf(generateKeyPairSync('ed25519').publicKey)),
  ],
  [/^APP_SECRET must be set/, { DATABASE_URL: 'postgres://db/leads' }],
  [
    /^DATABASE_URL sends a password.+sslmode=verify-full/,
    postgres('//user:pass@db/leads'),
    postgres('//user@db/leads?password=pass'),
    postgres('//user@db/leads', { PGPASSWORD: 'pass' }),
    postgres('//user:pass@localhost/leads?host=db'),
    postgres('///leads?host=db&password=pass'),
  ],
  [/^DATABASE_URL must be a URL such as/, postgres('//user@a:port/leads'), postgres('//a:5432,b:5433/x')],
  [
    /^DATABASE_URL must be a URL such as/,
    ...each('DATABASE_URL', 'file:', 'file://', 'file:./data/', 'file:..', 'file://data/leads.db'),
  ],
  [/^DATABASE_URL must be a URL such as/, { DATABASE_URL: 'mysql://db/leads' }],
  [/^DATABASE_URL contains a "#" in the user or password\. Write %23/, postgres('//user:p@ss#word@host/x')],
  [/^DATABASE_URL contains a "\/" in the user or password\. Write %2F/, postgres('//user:12/34@host/x')],
  [/^SMTP_URL contains a "\?" in the user or password\. Write %3F/, { SMTP_URL: 'smtp://user:pa?ss@host' }],
  [/^SMTP_URL contains a "%".+%25/, { SMTP_URL: 'smtp://user:100%@host' }],
  [/^SMTP_URL must be a URL such as smtps:/, { SMTP_URL: 'smtp:user:pass@mail.example.com' }],
  [/^SMTP_URL must be a URL such as smtps:/, ...each('SMTP_URL', 'smtp://', 'http://user:hunter2@mail')],
  [
    /^WEBHOOK_URLS must be URLs such as https:/,
    ...each('WEBHOOK_URLS', 'hooks.example.com/hunter2', 'ftp://hooks.example.com/hunter2', ','),
    ...each('WEBHOOK_URLS', 'https://a.example/hunter2;https://b.example'),
  ],
  [/^WEBHOOK_URLS must begin with https/, { WEBHOOK_URLS: 'https://a.example http://b.example/hunter2' }],
  [
    /^WEBHOOK_URLS contains a forbidden IP address/,
    { WEBHOOK_URLS: 'https://[::ffff:10.0.0.1]/hunter2' },
    { ...AT_HOME, WEBHOOK_URLS: 'http://169.254.169.254/' },
  ],
  [
    /^WEBHOOK_SECRET must be whsec_ followed by 24 to 64 random bytes/,
    ...each('WEBHOOK_SECRET', 'whsec_hunter2', ','),
  ],
  [
    /^WEBHOOK_EVENTS must be types of events separated by commas: lead\.verified, .*lead\.erased\. Entry 2 is not one of them\.$/,
    ...each('WEBHOOK_EVENTS', 'lead.verified, lead.deleted', 'lead.erased verified'),
  ],
  [/^WEBHOOK_ALLOW_PRIVATE must be yes or no/, { WEBHOOK_ALLOW_PRIVATE: 'true' }],
  [/^DESK_PEOPLE must also be set\. List the people who may sign in/, { ...DESK, DESK_PEOPLE: '' }],
  [
    /^TRUST_PROXY must be set when DESK_URL uses https, .* Set TRUST_PROXY to 1 or/,
    { ...DESK, TRUST_PROXY: '' },
    { ...DESK, TRUST_PROXY: 'off' },
  ],
  [
    /^DESK_PEOPLE must be a list of different e-mail addresses, such as ada@example\.com:all.*\. Entry 1 is not valid\.$/,
    ...['ada', 'ada@example.com:admin', 'ada@example.com:passkey:all'].map((people) => ({
      ...DESK,
      DESK_PEOPLE: people,
    })),
  ],
  [
    /^DESK_PEOPLE must be a list of different e-mail addresses.*\. Entry 3 repeats an address\.$/,
    { ...DESK, DESK_PEOPLE: 'bob@example.com, ada@example.com, ADA@example.com:all' },
  ],
  [/^DESK_URL must be a URL such as https:\/\/desk\.example\.com/, { ...DESK, DESK_URL: 'desk.example.com' }],
  [
    /^DESK_URL must be only the URL of a host/,
    { ...DESK, DESK_URL: 'https://example.com/desk' },
    { ...DESK, DESK_URL: 'https://ada:x@desk.example.com' },
  ],
  [/^DESK_URL must begin with https/, { ...DESK, DESK_URL: 'http://desk.example.com' }],
  [
    /^DESK_URL must have a different host from PUBLIC_URL, .* all ports/,
    { ...DESK, PUBLIC_URL: `${PAGE}/guide`, DESK_URL: PAGE },
    { ...DESK, DESK_URL: 'http://localhost:3000' },
    { ...DESK, PUBLIC_URL: PAGE, DESK_URL: `${PAGE}:8443` },
  ],
  [/^DESK_PORT must differ from PORT, because both would listen on 3000/, { ...DESK, DESK_PORT: '3000' }],
  [/^DESK_URL must also be set for DESK_PEOPLE to have an effect/, { ...DESK, DESK_URL: '' }],
];

const WARNED_OF: readonly (readonly [warning: RegExp, ...envs: readonly Env[]])[] = [
  [
    /^SMTP_URL allows user and password to be sent to the mail server without encryption/,
    ...['requireTLS=false', 'requireTLS=0', 'requireTLS', 'ignoreTLS=true', 'opportunisticTLS=true'].map(
      (word) => ({ SMTP_URL: `smtp://user:pass@mail.example.com?${word}` }),
    ),
  ],
  [
    /^SMTP_URL turns off the check of the mail server’s certificate/,
    { SMTP_URL: 'smtps://user:pass@mail.example.com?tls.rejectUnauthorized=false' },
  ],
  [/^SMTP_URL contains an "@".+%40/, { SMTP_URL: 'smtps://me@example.com:pass@host' }],
];

it('settings default to a local site with a file database and no mail account', () => {
  assert.deepEqual(configOf({}), {
    port: 3000,
    host: '127.0.0.1',
    publicUrl: 'http://localhost:3000',
    basePath: '',
    secure: false,
    database: { engine: 'sqlite', file: `${FOLDER}/data/leads.db` },
    mail: { kind: 'files' },
    mailFrom: null,
    bounceDomain: null,
    mailEvents: { sesTopic: null, postmarkLogin: null, mailgunKey: null, sendgridKey: null },
    appSecrets: [],
    trustProxy: false,
    logLevel: 'info',
    limits: { leadsPerIpPerHour: 100, leadsPerEmailPerHour: 5, verifyPerIpPerHour: 300, codeAttempts: 5 },
    codeTtlSeconds: 600,
    resendSeconds: 60,
    breaker: { codesPerMinute: 1000, unenteredPercent: 70 },
    retention: { unverifiedDays: 30, mailDays: 30 },
    funnelCounting: true,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    operatorEmails: [],
    guideEmail: 'off',
    newLeadEmail: 'off',
    newLeadEmailAtMs: 7 * 3_600_000,
    freeMail: 'off',
    disposableMail: 'off',
    webhooks: { urls: [], events: LEAD_EVENT_TYPES, secrets: [], allowPrivate: false },
    desk: null,
    metrics: null,
  });
  assert.equal(configOf({ LEADS_PER_IP_PER_HOUR: '0' }).limits.leadsPerIpPerHour, 0);
});

it('the time zone is UTC if the server’s has no name', (t) => {
  const { TZ } = process.env;
  t.after(() => (TZ === undefined ? delete process.env['TZ'] : (process.env['TZ'] = TZ)));
  process.env['TZ'] = ':/etc/localtime';
  assert.equal(configOf({}).timeZone, 'UTC');
});

for (const [env, expected] of TAKEN)
  it(`settings are accepted without warning: ${written(env)}`, () => {
    const { config, warnings } = read(env);
    assert.deepEqual(warnings, []);
    assert.deepEqual({ ...config, ...expected }, config);
  });

for (const [mistake, ...envs] of REFUSED)
  for (const env of envs)
    it(`settings are refused with one sentence: ${written(env)}`, () => {
      const [sentence = '', ...others] = mistakesOf(env);
      assert.deepEqual(others, []);
      assert.match(sentence, mistake);
      assert.doesNotMatch(sentence, /hunter2/);
    });

for (const [warning, ...envs] of WARNED_OF)
  for (const env of envs)
    it(`settings are accepted with a warning: ${written(env)}`, () =>
      assert.match(read(env).warnings.join('\n'), warning));

it('file names in settings are relative to the instance folder', () => {
  const DKIM = { DKIM_DOMAIN: 'example.com', DKIM_SELECTOR: 's', DKIM_PRIVATE_KEY_FILE: 'dkim.pem' };
  const { mail } = configOf({ SMTP_URL: 'smtp://localhost', ...DKIM });
  assert.equal(mail.kind === 'smtp' && mail.dkim?.privateKeyFile, '/srv/page/dkim.pem');
  assert.deepEqual(
    configOf(postgres('//user@a:5433/leads?sslmode=verify-full&sslrootcert=ca.pem')).database,
    {
      engine: 'postgres',
      url: 'postgres://user@a:5433/leads?sslmode=verify-full&sslrootcert=%2Fsrv%2Fpage%2Fca.pem',
    },
  );
});
