import { isIPv4, isIPv6 } from 'node:net';

export type Term = {
  readonly text: string;
  readonly name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists' | 'redirect' | 'other';
  readonly qualifier: string;
  readonly target: string;
};

export const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text);

const MECHANISM =
  /^([+\-~?]?)(all|include|a|mx|ptr|exists)(?::((?:[^/\s%]|%\{[^}]*\}|%[%_-])+))?((?:\/\d{1,3})?(?:\/\/\d{1,3})?)$/i;

export function parseRecord(
  record: string,
): { type: 'terms'; terms: Term[] } | { type: 'broken'; text: string } {
  const terms: Term[] = [];
  for (const text of record.split(' ').slice(1)) {
    if (text === '') continue;
    const term = parseTerm(text);
    if (term === null) return { type: 'broken', text };
    terms.push(term);
  }
  return { type: 'terms', terms };
}

function parseTerm(text: string): Term | null {
  const modifier = /^([a-z][a-z0-9._-]*)=(.*)$/i.exec(text);
  if (modifier) {
    const isRedirect = modifier[1]!.toLowerCase() === 'redirect';
    if (isRedirect && modifier[2] === '') return null;
    return { text, name: isRedirect ? 'redirect' : 'other', qualifier: '+', target: modifier[2]! };
  }
  const address = /^[+\-~?]?(ip4|ip6):([^/]+)(?:\/(\d{1,3}))?$/i.exec(text);
  if (address) {
    const [, kind, ip = '', prefix = '0'] = address;
    const isFour = kind!.toLowerCase() === 'ip4';
    const isRight = isFour ? isIPv4(ip) && Number(prefix) <= 32 : isIPv6(ip) && Number(prefix) <= 128;
    return isRight ? { text, name: isFour ? 'ip4' : 'ip6', qualifier: '+', target: ip } : null;
  }
  const [, qualifier = '', mechanism = '', target = '', mask = ''] = MECHANISM.exec(text) ?? [];
  const name = mechanism.toLowerCase() as Term['name'] | '';
  if (name === '') return null;
  if ((name === 'include' || name === 'exists') && target === '') return null;
  if ((name === 'all' && target !== '') || (mask !== '' && name !== 'a' && name !== 'mx')) return null;
  return { text, name, qualifier: qualifier || '+', target };
}

export const replaceTerm = (record: string, term: string, replacement: string): string =>
  record
    .split(' ')
    .map((text) => (text === term ? replacement : text))
    .filter((text) => text !== '')
    .join(' ');

export function mergeRecords(records: readonly string[]): string {
  const terms = records
    .flatMap((record) => record.split(' ').slice(1))
    .filter((term) => term !== '' && !/^[+\-~?]?all$/i.test(term));
  return ['v=spf1', ...new Set(terms), '~all'].join(' ');
}
