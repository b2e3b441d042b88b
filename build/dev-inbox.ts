import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, watch, type FSWatcher } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';

import PostalMime from 'postal-mime';
import type { Plugin } from 'vite';

import { inboxPage, type ShownMail } from '#build/dev-inbox-page.ts';
import { sampleMails } from '#build/dev-mail-samples.ts';
import { readCampaign } from '#server/campaign/campaign.ts';

const MAX_SHOWN = 50;
const CODE = /(?<!\d)\d{6}(?!\d)/;

const CHANGED = 'data: changed\n\n';

type Inbox = {
  readonly plugin: Plugin;
  readonly wordsChanged: () => void;
  readonly close: () => Promise<void>;
};

export function createInbox(mailFolder: string, campaign: string): Inbox {
  const listeners = new Set<ServerResponse>();
  let watcher: FSWatcher | undefined;
  const notify = () => {
    for (const listener of listeners) listener.write(CHANGED);
  };
  const renderInbox = async (url: URL): Promise<string> => {
    const mails = [...(await received(mailFolder)), ...samples(campaign)];
    return inboxPage(mails, url.searchParams.get('mail'));
  };
  return {
    wordsChanged: notify,
    close: async () => {
      watcher?.close();
      await Promise.all(
        Array.from(listeners, (listener) => new Promise<void>((resolve) => void listener.end(resolve))),
      );
    },
    plugin: {
      name: 'inbox',
      configureServer: (server) => {
        mkdirSync(mailFolder, { recursive: true, mode: 0o700 });
        watcher = watch(mailFolder, notify);
        server.middlewares.use('/inbox', (request, response, next) => {
          const url = new URL(request.url ?? '/', 'http://localhost');
          if (url.pathname === '/events') {
            response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
            listeners.add(response);
            // Mail may have arrived between rendering the page and this connection.
            response.write(CHANGED);
            response.once('close', () => listeners.delete(response));
            return;
          }
          renderInbox(url).then(
            (html) => response.setHeader('content-type', 'text/html; charset=utf-8').end(html),
            next,
          );
        });
      },
    },
  };
}

async function received(folder: string): Promise<ShownMail[]> {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .map((name) => ({ name, at: statSync(path.join(folder, name)).mtimeMs }))
    .toSorted((one, other) => other.at - one.at)
    .slice(0, MAX_SHOWN);
  return Promise.all(
    files.map(async ({ name, at }): Promise<ShownMail> => {
      const raw = readFileSync(path.join(folder, name), 'utf8');
      const { subject = '', text = '', html = '', to, from, headers } = await PostalMime.parse(raw);
      return {
        id: name.replace(/\.eml$/, ''),
        kind: headers.find(({ key }) => key === 'feedback-id')?.value.split(':')[0] ?? 'mail',
        at,
        to: to?.[0]?.address ?? '',
        from: [from?.name, from?.address].filter(Boolean).join(' · '),
        subject,
        text,
        html,
        headers: raw.split(/\r?\n\r?\n/, 1)[0] ?? '',
        code: CODE.exec(subject)?.[0] ?? null,
      };
    }),
  );
}

/** A sample was never sent, so it has no envelope. */
const SAMPLE = { at: null, to: '', from: '', headers: '', code: null } as const;

function samples(folder: string): ShownMail[] {
  const words = readCampaign(folder);
  if (words.type === 'mistakes') {
    const [subject, text] = ['The words are not valid yet', words.mistakes.join('\n')];
    return [{ ...SAMPLE, id: 'sample-none', kind: 'not yet', subject, text, html: '' }];
  }
  return sampleMails(words.campaign).map((mail) => ({
    ...SAMPLE,
    ...mail,
    id: `sample-${mail.kind.replaceAll(/\W+/g, '-')}`,
  }));
}
