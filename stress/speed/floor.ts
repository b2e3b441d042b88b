// The least that an equally durable flow costs: no limits, queue, validation or framework. Settings: PORT, DATABASE_URL, SMTP_URL.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';

import { createTransport } from 'nodemailer';
import { Pool } from 'pg';

const { PORT, DATABASE_URL = '', SMTP_URL = '' } = process.env;

type Form = { readonly email: string; readonly name: string; readonly company: string };
type Entry = { readonly email: string; readonly code: string };
type Store = {
  readonly keep: (form: Form, code: string) => Promise<void>;
  readonly verify: (entry: Entry) => Promise<boolean>;
};

const TABLES = `
  create table if not exists submissions (id text primary key, email text not null, name text not null, company text not null, at bigint not null);
  create table if not exists challenges (id text primary key, email text not null, at bigint not null);
  create table if not exists codes (id text primary key, email text not null, code text not null, at bigint not null, used_at bigint);
  create table if not exists leads (email text primary key, code_id text not null, at bigint not null);
  create index if not exists codes_by_email on codes (email, at);
`;

function createSqliteStore(file: string): Store {
  const db = new DatabaseSync(file);
  db.exec('pragma journal_mode = wal; pragma synchronous = full');
  db.exec(TABLES);
  const submission = db.prepare('insert into submissions values (?, ?, ?, ?, ?)');
  const challenge = db.prepare('insert into challenges values (?, ?, ?)');
  const newCode = db.prepare('insert into codes values (?, ?, ?, ?, null)');
  const newest = db.prepare(
    'select id, code from codes where email = ? and used_at is null order by at desc limit 1',
  );
  const use = db.prepare('update codes set used_at = ? where id = ?');
  const lead = db.prepare(
    'insert into leads values (?, ?, ?) on conflict (email) do update set at = excluded.at',
  );
  const transaction = <Result>(work: () => Result): Result => {
    db.exec('begin immediate');
    const result = work();
    db.exec('commit');
    return result;
  };
  return {
    keep: async ({ email, name, company }, code) =>
      transaction(() => {
        const now = Date.now();
        submission.run(randomUUID(), email, name, company, now);
        challenge.run(randomUUID(), email, now);
        newCode.run(randomUUID(), email, code, now);
      }),
    verify: async ({ email, code }) =>
      transaction(() => {
        const found = newest.get(email);
        if (found?.['code'] !== code) return false;
        use.run(Date.now(), found['id'] ?? null);
        lead.run(email, found['id'] ?? null, Date.now());
        return true;
      }),
  };
}

async function createPostgresStore(url: string): Promise<Store> {
  const pool = new Pool({ connectionString: url, max: 10 });
  await pool.query(TABLES);
  const transaction = async <Result>(
    work: (
      query: (name: string, text: string, values: unknown[]) => Promise<{ rows: Record<string, string>[] }>,
    ) => Promise<Result>,
  ): Promise<Result> => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const result = await work((name, text, values) => client.query({ name, text, values }));
      await client.query('commit');
      return result;
    } finally {
      client.release();
    }
  };
  return {
    keep: ({ email, name, company }, code) =>
      transaction(async (query) => {
        const now = Date.now();
        await query('submission', 'insert into submissions values ($1, $2, $3, $4, $5)', [
          randomUUID(),
          email,
          name,
          company,
          now,
        ]);
        await query('challenge', 'insert into challenges values ($1, $2, $3)', [randomUUID(), email, now]);
        await query('code', 'insert into codes values ($1, $2, $3, $4, null)', [
          randomUUID(),
          email,
          code,
          now,
        ]);
      }),
    verify: ({ email, code }) =>
      transaction(async (query) => {
        const { rows } = await query(
          'newest',
          'select id, code from codes where email = $1 and used_at is null order by at desc limit 1',
          [email],
        );
        const [found] = rows;
        if (found === undefined || found['code'] !== code) return false;
        await query('use', 'update codes set used_at = $1 where id = $2', [Date.now(), found['id']]);
        await query(
          'lead',
          'insert into leads values ($1, $2, $3) on conflict (email) do update set at = excluded.at',
          [email, found['id'], Date.now()],
        );
        return true;
      }),
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

const store = DATABASE_URL.startsWith('file:')
  ? createSqliteStore(DATABASE_URL.slice('file:'.length))
  : await createPostgresStore(DATABASE_URL);
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

const answer = (response: ServerResponse, status: number, headers: Record<string, string>): void => {
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': 2 })
    .end('{}');
};

async function ask(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = (await readJson(request)) as Form;
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await store.keep(form, code);
  void mailer.sendMail({
    from: 'Guide <guide@example.com>',
    to: form.email,
    subject: `${code} is your code`,
    text: `Here is your one-time code.\n\n    ${code}\n\nIt is valid for ten minutes.\n`,
    html: `<p>Here is your one-time code.</p><p>${code}</p><p>It is valid for ten minutes.</p>`,
  });
  answer(response, 202, { 'set-cookie': `challenge=${randomUUID()}; HttpOnly` });
}

async function enter(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const right = await store.verify((await readJson(request)) as Entry);
  answer(response, right ? 200 : 400, {});
}

createServer((request, response) => {
  const { method, url = '' } = request;
  if (method === 'POST') {
    const handle = url === '/api/leads' ? ask : enter;
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
