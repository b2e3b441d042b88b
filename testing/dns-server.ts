import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { decode, encode, type Answer } from 'dns-packet';

/** An empty object means that the name exists but has no records. */
export type NameRecords = {
  readonly TXT?: readonly string[];
  readonly MX?: readonly (readonly [priority: number, exchange: string])[];
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
  readonly PTR?: readonly string[];
  readonly fault?: 'SERVFAIL' | 'silence';
};

export type DnsServer = {
  readonly address: string;
  /** Such as `TXT example.com`. */
  readonly questions: readonly string[];
} & AsyncDisposable;

/** Values of the header's flags field (RFC 1035, section 4.1.1). */
const SERVFAIL = 2;
const NXDOMAIN = 3;
const AUTHORITATIVE = 0x0400;
/** Pieces of a TXT record, which have at most 255 characters (RFC 1035, section 3.3.14). */
const TEXT_PIECES = /[^]{1,255}/g;

/** @param zone records by lower-case name */
export async function startDnsServer(zone: Readonly<Record<string, NameRecords>>): Promise<DnsServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const query = decode(message);
    const [question] = query.questions ?? [];
    if (question === undefined) return;
    questions.push(`${question.type} ${question.name}`);
    const records = zone[question.name.toLowerCase()];
    if (records?.fault === 'silence') return;
    const responseCode = records === undefined ? NXDOMAIN : records.fault === 'SERVFAIL' ? SERVFAIL : 0;
    const answers = responseCode === 0 && records ? answersTo(question.type, question.name, records) : [];
    const reply = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: AUTHORITATIVE | responseCode,
      questions: [question],
      answers,
    });
    socket.send(reply, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function answersTo(type: string, name: string, records: NameRecords): Answer[] {
  const ttl = 60;
  switch (type) {
    case 'TXT':
      return (records.TXT ?? []).map((text) => ({ type, name, ttl, data: text.match(TEXT_PIECES) ?? [''] }));
    case 'MX':
      return (records.MX ?? []).map(([preference, exchange]) => ({
        type,
        name,
        ttl,
        data: { preference, exchange },
      }));
    case 'A':
    case 'AAAA':
    case 'PTR':
      return (records[type] ?? []).map((data) => ({ type, name, ttl, data }));
    default:
      return [];
  }
}

export async function withDnsServer(
  zone: Readonly<Record<string, NameRecords>>,
  test: (server: DnsServer) => Promise<void>,
): Promise<void> {
  await using server = await startDnsServer(zone);
  await test(server);
}
