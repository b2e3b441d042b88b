// The least that an equally durable flow costs: no limits, queue, validation or framework. Settings: PORT, DATABASE_URL, SMTP_URL.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';

import { createTransport } from 'nodemailer';
import { Pool } from 'pg';

const { PORT, DATABASE_URL = '', SMTP_URL = '' } = process.env;

type Form = { readonly email: string; readonly name: string; readonly company: string };
type Entry = { readonly email: string; readonly code: string };

const TABLES = `
  create table if not exists submissions (id text primary key, email text not null, name text not null, company text not null, at bigint not null);
  create table if not exists challenges (id text primary key, email text not null, at bigint not null);
  create table if not exists codes (id text primary key, email text not null, code text not null, at bigint not null, used_at bigint);
  create table if not exists leads (email text primary key, code_id text not null, at bigint not null);
  create index if not exists codes_by_email on codes (email, at);
`;

const STATEMENTS = {
  submission: 'insert into submissions values (?, ?, ?, ?, ?)',
  challenge: 'insert into challenges values (?, ?, ?)',
  newCode: 'insert into codes values (?, ?, ?, ?, null)',
  newest: 'select id, code from codes where email = ? and used_at is null order by at desc limit 1',
  use: 'update codes set used_at = ? where id = ?',
  lead: 'insert into leads values (?, ?, ?) on conflict (email) do update set at = excluded.at',
};

/** The statements of one transaction. Each receives the first row of its predecessor. */
type Steps<Result> = Generator<readonly [keyof typeof STATEMENTS, ...(string | number)[]], Result, Row>;
type Row = Readonly<Record<string, string>> | undefined;
type Transact = <Result>(steps: Steps<Result>) => Promise<Result>;

function* storeForm({ email, name, company }: Form, code: string): Steps<void> {
  const now = Date.now();
  yield ['submission', randomUUID(), email, name, company, now];
  yield ['challenge', randomUUID(), email, now];
  yield ['newCode', randomUUID(), email, code, now];
}

function* verify({ email, code }: Entry): Steps<boolean> {
  const newest = yield ['newest', email];
  if (newest?.['code'] !== code) return false;
  const id = newest['id'] ?? '';
  yield ['use', Date.now(), id];
  yield ['lead', email, id, Date.now()];
  return true;
}

function openSqlite(file: string): Transact {
  const db = new DatabaseSync(file);
  db.exec('pragma journal_mode = wal; pragma synchronous = full');
  db.exec(TABLES);
  const prepared = Object.fromEntries(
    Object.entries(STATEMENTS).map(([name, statement]) => [name, db.prepare(statement)]),
  );
  return async (steps) => {
    db.exec('begin immediate');
    let step = steps.next();
    while (!step.done) {
      const [name, ...values] = step.value;
      step = steps.next(prepared[name]!.get(...values) as Row);
    }
    db.exec('commit');
    return step.value;
  };
}

async function openPostgres(url: string): Promise<Transact> {
  const pool = new Pool({ connectionString: url, max: 10 });
  await pool.query(TABLES);
  const numbered = Object.fromEntries(
    Object.entries(STATEMENTS).map(([name, statement]) => {
      let place = 0;
      return [name, statement.replaceAll('?', () => `$${(place += 1)}`)];
    }),
  );
  return async (steps) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      let step = steps.next();
      while (!step.done) {
        const [name, ...values] = step.value;
        const { rows } = await client.query<NonNullable<Row>>({ name, text: numbered[name]!, values });
        step = steps.next(rows[0]);
      }
      await client.query('commit');
      return step.value;
    } finally {
      client.release();
    }
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

const transact = DATABASE_URL.startsWith('file:')
  ? openSqlite(DATABASE_URL.slice('file:'.length))
  : await openPostgres(DATABASE_URL);
const mailer = createTransport({
  url: SMTP_URL,
  pool: true,
  maxConnections: 5,
  maxMessages: Number.POSITIVE_INFINITY,
});
/** Random bytes, because compressed files look random too. */
const files = new Map<number, Buffer>();
function fileOf(bytes: number): Buffer {
  let file = files.get(bytes);
  if (file === undefined) files.set(bytes, (file = randomBytes(bytes)));
  return file;
}

const respond = (response: ServerResponse, status: number, headers: Record<string, string>): void => {
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': 2 })
    .end('{}');
};

async function handleForm(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = (await readJson(request)) as Form;
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await transact(storeForm(form, code));
  void mailer.sendMail({
    from: 'Guide <guide@example.com>',
    to: form.email,
    subject: `${code} is your code`,
    text: `Here is your one-time code.\n\n    ${code}\n\nIt is valid for ten minutes.\n`,
    html: `<p>Here is your one-time code.</p><p>${code}</p><p>It is valid for ten minutes.</p>`,
  });
  respond(response, 202, { 'set-cookie': `challenge=${randomUUID()}; HttpOnly` });
}

async function handleCode(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const right = await transact(verify((await readJson(request)) as Entry));
  respond(response, right ? 200 : 400, {});
}

createServer((request, response) => {
  const { method, url = '' } = request;
  if (method === 'POST') {
    const handle = url === '/api/leads' ? handleForm : handleCode;
    handle(request, response).catch(() => response.writeHead(500).end());
    return;
  }
  const file = fileOf(Number(url.replace('/bytes/', '')) || 0);
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'br',
      'content-length': file.length,
    })
    .end(file);
}).listen(Number(PORT), '127.0.0.1');
