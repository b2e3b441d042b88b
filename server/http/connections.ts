// Limits how many connections one network and all visitors may hold. A connection costs its owner nothing, so a stranger who opens
// five thousand must not keep every visitor out: the connection that has been idle longest gives way to the newest.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyBaseLogger } from 'fastify';

import { peerAddress, type IsProxy } from '#server/http/visitor-address.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { CONNECTIONS } from '#server/settings/fixed-limits.ts';
import { createMinuteLog } from '#server/platform/minute-log.ts';

export type ConnectionLimits = {
  /** In this process. */
  readonly maxOpen: number;
  /** From one network, as the other limits count networks. Proxies that are trusted are exempt. */
  readonly maxPerNetwork: number;
};

/** Which bound was reached: that of a network, or that of the process. */
type ConnectionBound = 'network' | 'process';

type Connection = {
  readonly socket: Socket;
  /** Null for a proxy, which has no share. */
  readonly network: string | null;
  /** Whole requests that wait for our answer, or whose answer is being read. None: we wait for the other end. */
  requestsInHand: number;
  /** Which change of any connection, counted, made this one idle or busy. The lowest has waited longest. */
  since: number;
  /** Hears the end of each answer to a whole request. A function made anew for each took a twentieth of a page's processor time. */
  readonly noteAnswered: () => void;
};

type ConnectionParts = {
  readonly limits?: ConnectionLimits | undefined;
  readonly isProxy: IsProxy;
  readonly metrics: {
    readonly connectionsOpen: (count: number) => void;
    readonly connectionRefused: (reason: string) => void;
  };
  readonly logger: Pick<FastifyBaseLogger, 'warn'>;
};

/**
 * Keeps the connections of a server within their bounds. At a bound, it ends the longest idle connection for the new one; if none is
 * idle, the one that has longest left its answer unread; if there is none either, the new one itself. It never ends a connection
 * with a whole request in hand before that is answered.
 */
export function boundConnections(
  server: Server,
  { limits = CONNECTIONS, isProxy, metrics, logger }: ConnectionParts,
): void {
  const connections = new Map<Socket, Connection>();
  const networks = new Map<string, Set<Connection>>();
  let changes = 0;
  const minuteLog = createMinuteLog<ConnectionBound>(
    logger,
    ['network', 'process'],
    'There are too many connections: idle ones were ended, or new ones refused.',
  );
  server.once('close', minuteLog.close);

  const enter = (socket: Socket, network: string | null): void => {
    const connection: Connection = {
      socket,
      network,
      requestsInHand: 0,
      since: (changes += 1),
      noteAnswered: () => {
        connection.requestsInHand -= 1;
        if (connection.requestsInHand === 0) connection.since = changes += 1;
      },
    };
    connections.set(socket, connection);
    if (network !== null) networks.set(network, (networks.get(network) ?? new Set()).add(connection));
    socket.once('close', () => leave(connection));
    metrics.connectionsOpen(connections.size);
  };

  const leave = (connection: Connection): void => {
    if (!connections.delete(connection.socket)) return;
    const { network } = connection;
    const shared = network === null ? undefined : networks.get(network);
    shared?.delete(connection);
    if (network !== null && shared?.size === 0) networks.delete(network);
    metrics.connectionsOpen(connections.size);
  };

  /** @returns whether one of them could be ended */
  const makeRoom = (among: Iterable<Connection>): boolean => {
    const leaving = findExpendable(among);
    if (leaving === null) return false;
    // At once, not when its socket has closed: the next one is counted before that.
    leave(leaving);
    leaving.socket.destroy();
    return true;
  };

  const end = (bound: ConnectionBound): void => {
    metrics.connectionRefused(bound);
    minuteLog.note(bound);
  };

  server.on('connection', (socket) => {
    const address = peerAddress(socket);
    if (address === null) {
      // Reset before it was accepted: no answer can reach it, and it has no address to count or store.
      socket.destroy();
      return;
    }
    const network = isProxy(address, 0) ? null : networkOf(address);
    const shared = network === null ? undefined : networks.get(network);
    if (shared !== undefined && shared.size >= limits.maxPerNetwork) {
      end('network');
      if (!makeRoom(shared)) {
        socket.destroy();
        return;
      }
    }
    if (connections.size >= limits.maxOpen) {
      end('process');
      const all = [...connections.values()];
      const visitors = all.filter((connection) => connection.network !== null);
      if (!makeRoom(visitors) && !makeRoom(all)) {
        socket.destroy();
        return;
      }
    }
    enter(socket, network);
  });

  // Before the application's own listener, which may answer at once.
  server.prependListener('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    const takeInHand = () => {
      // Refused before its body had arrived.
      if (response.closed) return;
      connection.requestsInHand += 1;
      connection.since = changes += 1;
      // Not "once": it comes once in any case, and taking a listener away again costs more than adding it.
      response.on('close', connection.noteAnswered);
    };
    if (!hasBody(request)) takeInHand();
    else {
      request.once('end', takeInHand);
      // An answer that comes before the body ends nothing that was in hand, but the connection has begun to wait anew.
      response.on('close', () => {
        if (connection.requestsInHand === 0) connection.since = changes += 1;
      });
    }
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * The connection that has been idle longest; without an idle one, the one that has longest left its answer unread (what the system
 * keeps for a reader is full); else null. Looks at all of them: only a new connection at a bound costs this, 0.06 ms for 5,000 on
 * an idle machine and up to 0.36 ms on a busy one, and requests need no order kept for it.
 */
function findExpendable(among: Iterable<Connection>): Connection | null {
  let idle: Connection | null = null;
  let unread: Connection | null = null;
  for (const connection of among) {
    if (connection.requestsInHand === 0) {
      if (idle === null || connection.since < idle.since) idle = connection;
    } else if (connection.socket.writableLength > 0) {
      if (unread === null || connection.since < unread.since) unread = connection;
    }
  }
  return idle ?? unread;
}
