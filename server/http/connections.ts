// Limits connections per network and in total. Idle connections cost an attacker nothing, so the one idle for longest is
// closed to make room for a new one.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyBaseLogger } from 'fastify';

import { peerAddress, type IsProxy } from '#server/http/visitor-address.ts';
import { networkOf } from '#server/platform/ip-addresses.ts';
import { CONNECTIONS } from '#server/settings/fixed-limits.ts';
import { createMinuteLog } from '#server/http/request-log.ts';

export type ConnectionLimits = {
  readonly maxOpen: number;
  readonly maxPerNetwork: number;
};

type ConnectionLimit = 'network' | 'process';

type Connection = {
  readonly socket: Socket;
  /** Null for the proxy. */
  readonly network: string | null;
  requestsBeingAnswered: number;
  /** Of `requestsBeingAnswered`. A running number, which orders connections even if the clock is set back. */
  lastChange: number;
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
 * At a limit, closes the connection that has been idle for longest; if none is idle, the one that has left its response
 * unread for longest; otherwise the new one. A complete request is always answered before its connection is closed.
 */
export function limitConnections(
  server: Server,
  { limits = CONNECTIONS, isProxy, metrics, logger }: ConnectionParts,
): void {
  const connections = new Map<Socket, Connection>();
  const networks = new Map<string, Set<Connection>>();
  let changes = 0;
  const minuteLog = createMinuteLog<ConnectionLimit>(
    logger,
    ['network', 'process'],
    'Too many connections are open. Idle connections were closed, or new connections were refused.',
  );
  server.once('close', minuteLog.close);

  const enter = (socket: Socket, network: string | null): void => {
    const connection = { socket, network, requestsBeingAnswered: 0, lastChange: (changes += 1) };
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

  const makeRoom = (among: Iterable<Connection>): boolean => {
    const leaving = findExpendable(among);
    if (leaving === null) return false;
    // Counted here, because the close event would arrive after the next connection is counted.
    leave(leaving);
    leaving.socket.destroy();
    return true;
  };

  const noteLimitReached = (limit: ConnectionLimit): void => {
    metrics.connectionRefused(limit);
    minuteLog.note(limit);
  };

  server.on('connection', (socket) => {
    const address = peerAddress(socket);
    if (address === null) {
      // The connection was reset before it was accepted, so its IP address is unknown.
      socket.destroy();
      return;
    }
    const network = isProxy(address, 0) ? null : networkOf(address);
    const shared = network === null ? undefined : networks.get(network);
    if (shared !== undefined && shared.size >= limits.maxPerNetwork) {
      noteLimitReached('network');
      if (!makeRoom(shared)) {
        socket.destroy();
        return;
      }
    }
    if (connections.size >= limits.maxOpen) {
      noteLimitReached('process');
      const all = [...connections.values()];
      const visitors = all.filter((connection) => connection.network !== null);
      if (!makeRoom(visitors) && !makeRoom(all)) {
        socket.destroy();
        return;
      }
    }
    enter(socket, network);
  });

  // Runs before the application's listener, which may respond immediately.
  server.prependListener('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    const noteIdle = () => {
      if (connection.requestsBeingAnswered === 0) connection.lastChange = changes += 1;
    };
    const startAnswering = () => {
      if (response.closed) return;
      connection.requestsBeingAnswered += 1;
      connection.lastChange = changes += 1;
      response.once('close', () => {
        connection.requestsBeingAnswered -= 1;
        noteIdle();
      });
    };
    // Until its body is complete, a request counts as idle, so a slow sender can be closed.
    if (hasBody(request)) {
      request.once('end', startAnswering);
      response.once('close', noteIdle);
    } else startAnswering();
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Takes up to 0.36 ms with 5,000 connections, but only runs at a limit. */
function findExpendable(among: Iterable<Connection>): Connection | null {
  let idle: Connection | null = null;
  let unread: Connection | null = null;
  for (const connection of among) {
    if (connection.requestsBeingAnswered === 0) {
      if (idle === null || connection.lastChange < idle.lastChange) idle = connection;
    } else if (connection.socket.writableLength > 0) {
      if (unread === null || connection.lastChange < unread.lastChange) unread = connection;
    }
  }
  return idle ?? unread;
}
