import { createHandlers, type Handlers } from '#desk/server/handlers/all-handlers.ts';
import type { DeskAction } from '#desk/endpoints/auth.ts';
import type { DeskContext, FileResponse } from '#desk/server/handler.ts';
import { AT_THE_MACHINE, logAction } from '#desk/audit-log/audit-log.ts';
import { deskLogPage } from '#server/db/tables/desk-log.ts';
import type { Service } from '#server/startup/service.ts';

type Noted = { readonly action: DeskAction; readonly about: string | null; readonly details: string };

export type DeskClient = {
  readonly ask: <Name extends keyof Handlers>(
    name: Name,
    asked?: object,
  ) => Promise<Awaited<ReturnType<Handlers[Name]>>>;
  readonly file: (
    path: string,
    query: Readonly<Record<string, string>>,
  ) => Promise<(Omit<FileResponse, 'body'> & { readonly text: string }) | null>;
  readonly warmUp: () => Promise<void>;
  readonly noted: () => Promise<readonly Noted[]>;
};

export function deskClient(
  service: Service,
  { dnsServers }: Pick<DeskContext, 'dnsServers'> = {},
): DeskClient {
  const { handlers, endpoints, files, warmUp } = createHandlers(service);
  const actor = { who: AT_THE_MACHINE, from: '' };
  const log: DeskContext['log'] = (action, about, details) =>
    logAction(service, { ...actor, action, about, details });
  const context: DeskContext = {
    service,
    actor,
    log,
    signal: new AbortController().signal,
    // Nothing listens here, because no test looks up real domains.
    dnsServers: dnsServers ?? ['127.0.0.1:9'],
  };
  return {
    noted: async () => {
      const rows = await deskLogPage(service.database.db, { order: 'oldest', after: null, limit: 1_000 });
      return rows.map(({ action, about, details }) => ({ action: action as DeskAction, about, details }));
    },
    warmUp,
    ask: async (name, asked = {}) => {
      const { endpoint } = endpoints[Object.keys(handlers).indexOf(name)]!;
      const handle = handlers[name] as (context: DeskContext, asked: unknown) => Promise<never>;
      return JSON.parse(JSON.stringify(await handle(context, endpoint.input.parse(asked)))) as never;
    },
    file: async (path, query) => {
      const found = await files.find((one) => one.path === path)!.handle(context, query);
      if (found === null) return null;
      const { body, ...response } = found;
      return { ...response, text: typeof body === 'string' ? body : (await Array.fromAsync(body)).join('') };
    },
  };
}
