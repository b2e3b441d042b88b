// Counts how often the page was seen, the form opened and the article read: in memory, written to the database every few seconds.
// It keeps no identifier, no network address and no browser's name: these are looked at once, to leave robots out, and forgotten.
// No visitor waits for any of this, and strangers cannot make it grow: everything is bounded.
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';

import { isbot } from 'isbot';

import { DAY_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { addFunnelCounts, type FunnelCount } from '#server/db/tables/funnel-counts.ts';
import { addVariantCounts, type VariantCount } from '#server/db/tables/variant-counts.ts';
import { attributionOf } from '#server/attribution/attribution.ts';
import { OTHERS, shownSource, sourceOf } from '#server/attribution/source.ts';
import { VISIT_HEADER } from '#shared/api.ts';
import { FIRST_SEEN, type FunnelStep, type ReportedStep, type VariantStep } from '#shared/funnel.ts';
import { variantAskedFor } from '#shared/variants.ts';
import { readTouch } from '#shared/attribution.ts';

export type FunnelCounter = {
  /** Notes a GET of the page that is answered with it. Called for each of them: it does next to nothing. */
  readonly pageSeen: (request: {
    readonly url?: string | undefined;
    readonly headers: IncomingHttpHeaders;
  }) => void;
  /** Counts a step that a browser reported. @param variant of the page, if it is compared with others */
  readonly stepReported: (
    step: ReportedStep | VariantStep,
    headers: IncomingHttpHeaders,
    variant?: string,
  ) => void;
  /** Writes what was counted. Throws what the database said; the counts are kept for the next time. */
  readonly write: () => Promise<void>;
};

/**
 * Different visits (address, link, browser) that wait to be looked at; further ones are not counted. A thousand a second are
 * more than any page has, and a stranger who makes them up takes neither memory nor time from others.
 */
const MOST_WAITING = 5_000;
/** Visits that are looked at in one go, which takes a millisecond. */
const AT_ONCE = 100;
/** Sources that get a row of their own for a day and step; further ones are counted as others. */
const MOST_SOURCES = 200;
/** Counts that are kept while the database is away; then only those of others are added. */
const MOST_COUNTS = 5_000;
/** Longer than any browser's name for itself whose end would say something; no pattern meets a longer text. */
const NAME_MAX_LENGTH = 500;
const LINK_MAX_LENGTH = 500;
/** A name of 253 characters, and a port. */
const HOST_MAX_LENGTH = 259;
const ADDRESS_MAX_LENGTH = 1_000;

/**
 * Makes the counter of one process.
 * @param config publicUrl: a link from there is no source. funnelCounting: false counts nothing
 */
export function createFunnelCounter({
  database,
  clock,
  config: { publicUrl, funnelCounting },
  variants = [],
}: {
  readonly database: OpenDatabase;
  readonly clock: () => number;
  readonly config: Pick<Config, 'publicUrl' | 'funnelCounting'>;
  /** Names of the pages that are compared; none: there is one. */
  readonly variants?: readonly string[];
}): FunnelCounter {
  const ownHost = new URL(publicUrl).host;
  /** Visits by all that is known of them, and how many there were of each: most are alike. */
  const waiting = new Map<string, number>();
  /** What was looked at and is not written yet. */
  const counts = new Map<string, FunnelCount>();
  /** The same, by variant: a few rows a day. */
  const variantCounts = new Map<string, VariantCount>();
  let newest: Promise<void> = Promise.resolve();
  /** A write that has not begun. */
  let next: Promise<void> | null = null;

  const note = (visit: string): void => {
    if (!funnelCounting) return;
    const times = waiting.get(visit);
    if (times === undefined && waiting.size >= MOST_WAITING) return;
    // A copy: V8 keeps the whole of a text as long as a part that was cut from it.
    waiting.set(times === undefined ? Buffer.from(visit).toString() : visit, (times ?? 0) + 1);
  };

  const count = (step: FunnelStep, source: string, times: number): void => {
    const day = Math.floor(clock() / DAY_MS);
    const keyOf = (name: string) => [day, step, name].join();
    const name = counts.size < MOST_COUNTS || counts.has(keyOf(source)) ? source : OTHERS;
    const before = counts.get(keyOf(name))?.count ?? 0;
    counts.set(keyOf(name), { day, step, source: name, count: before + times });
  };

  const countVariant = (step: VariantCount['step'], variant: string, times: number): void => {
    if (!variants.includes(variant)) return;
    const day = Math.floor(clock() / DAY_MS);
    const key = [day, step, variant].join();
    const before = variantCounts.get(key)?.count ?? 0;
    variantCounts.set(key, { day, step, variant, count: before + times });
  };

  /** Looks at what waits by now, a little at a time. */
  async function workOff(): Promise<void> {
    const last = waiting.size;
    let done = 0;
    for (const [visit, times] of waiting) {
      if (done === last) break;
      waiting.delete(visit);
      const [step = '', browser = '', ...rest] = visit.split('\n');
      if (!isbot(browser)) {
        const [address = '', host = '', link = ''] = rest;
        const source = step === 'seen' ? sourceOf(touchOf(address, link, [ownHost, host])) : address;
        if (step !== FIRST_SEEN) count(step as FunnelStep, shownSource(source), times);
        if (step !== 'seen') countVariant(step as ReportedStep | VariantStep, host, times);
      }
      done += 1;
      if (done % AT_ONCE === 0) await setImmediate();
    }
  }

  async function writeCounts(): Promise<void> {
    await workOff();
    if (counts.size > 0)
      await addFunnelCounts(database, [...counts.values()], { mostSources: MOST_SOURCES, others: OTHERS });
    // Not before: what could not be written is written the next time.
    counts.clear();
    await addVariantCounts(database.db, [...variantCounts.values()]);
    variantCounts.clear();
  }

  return {
    pageSeen: ({ url = '', headers }) => {
      const browser = browserIn(headers);
      if (browser === null || isAhead(headers)) return;
      // A look at a variant, or the second request of one visit.
      if (variants.length > 0 && variantAskedFor(url) !== null) return;
      const address = url.slice(0, ADDRESS_MAX_LENGTH);
      const host = headers.host?.slice(0, HOST_MAX_LENGTH) ?? '';
      const link = headers.referer?.slice(0, LINK_MAX_LENGTH) ?? '';
      // No line of a request holds a line feed.
      note(`seen\n${browser}\n${address}\n${host}\n${link}`);
    },
    stepReported: (step, headers, variant = '') => {
      const browser = browserIn(headers);
      if (browser === null) return;
      const attribution = attributionOf({ visit: headers[VISIT_HEADER], referer: headers.referer });
      note(`${step}\n${browser}\n${sourceOf(attribution)}\n${variants.includes(variant) ? variant : ''}`);
    },
    write: () => {
      // One after the other, and one that waits: a stop waits for a write that is under way, and writes what came after it.
      const begin = () => {
        next = null;
        return writeCounts();
      };
      newest = next ??= newest.then(begin, begin);
      return newest;
    },
  };
}

/**
 * What a browser calls itself; null for a program that does not say, and for a visitor who asked not to be counted: Global Privacy
 * Control, or Do Not Track.
 */
const browserIn = (headers: IncomingHttpHeaders): string | null =>
  headers['sec-gpc'] === '1' || headers['dnt'] === '1'
    ? null
    : headers['user-agent']?.slice(0, NAME_MAX_LENGTH) || null;

/** Whether a browser asks before a visitor has opened the page, or for another purpose than to show it. */
const isAhead = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-purpose'] !== undefined ||
  headers['purpose'] !== undefined ||
  headers['x-purpose'] !== undefined ||
  headers['x-moz'] !== undefined ||
  (headers['sec-fetch-dest'] ?? 'document') !== 'document';

/** As the page itself reports where a lead came from (web/attribution.ts). */
function touchOf(address: string, link: string, own: readonly string[]): ReturnType<typeof readTouch> {
  const query = address.indexOf('?');
  const parameters = new URLSearchParams(query === -1 ? '' : address.slice(query));
  parameters.delete('referrer');
  const from = URL.parse(link)?.host ?? '';
  if (from !== '' && !own.includes(from)) parameters.set('referrer', from);
  return readTouch(parameters);
}
