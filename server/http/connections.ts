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
  activeRequests: number;
  /** Number of the last change to `activeRequests`. Unlike a time, it orders connections even if the clock is set back. */
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
 * unread for longest; otherwise the new one. A complete request always gets its response before its connection is closed.
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

  const add = (socket: Socket, network: string | null): void => {
    const connection = { socket, network, activeRequests: 0, lastChange: (changes += 1) };
    connections.set(socket, connection);
    if (network !== null) networks.set(network, (networks.get(network) ?? new Set()).add(connection));
    socket.once('close', () => remove(connection));
    metrics.connectionsOpen(connections.size);
  };

  const remove = (connection: Connection): void => {
    if (!connections.delete(connection.socket)) return;
    const { network } = connection;
    const sameNetwork = network === null ? undefined : networks.get(network);
    sameNetwork?.delete(connection);
    if (network !== null && sameNetwork?.size === 0) networks.delete(network);
    metrics.connectionsOpen(connections.size);
  };

  const makeRoom = (among: Iterable<Connection>): boolean => {
    const expendable = findExpendable(among);
    if (expendable === null) return false;
    // Removed here, because the close event comes only after the next connection has been counted.
    remove(expendable);
    expendable.socket.destroy();
    return true;
  };

  const reportLimit = (limit: ConnectionLimit): void => {
    metrics.connectionRefused(limit);
    minuteLog.note(limit);
  };

  server.on('connection', (socket) => {
    const ipAddress = peerAddress(socket);
    if (ipAddress === null) {
      // The connection was reset before it was accepted, so its IP address is unknown.
      socket.destroy();
      return;
    }
    const network = isProxy(ipAddress, 0) ? null : networkOf(ipAddress);
    const sameNetwork = network === null ? undefined : networks.get(network);
    if (sameNetwork !== undefined && sameNetwork.size >= limits.maxPerNetwork) {
      reportLimit('network');
      if (!makeRoom(sameNetwork)) {
        socket.destroy();
        return;
      }
    }
    if (connections.size >= limits.maxOpen) {
      reportLimit('process');
      const all = [...connections.values()];
      const visitors = all.filter((connection) => connection.network !== null);
      if (!makeRoom(visitors) && !makeRoom(all)) {
        socket.destroy();
        return;
      }
    }
    add(socket, network);
  });

  // Runs before the application's listener, which may respond immediately.
  server.prependListener('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    const noteIdle = () => {
      if (connection.activeRequests === 0) connection.lastChange = changes += 1;
    };
    const noteActive = () => {
      if (response.closed) return;
      connection.activeRequests += 1;
      connection.lastChange = changes += 1;
      response.once('close', () => {
        connection.activeRequests -= 1;
        noteIdle();
      });
    };
    // Until its body is complete, a request counts as idle, so a slow sender can be closed.
    if (hasBody(request)) {
      request.once('end', noteActive);
      response.once('close', noteIdle);
    } else noteActive();
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Takes up to 0.36 ms with 5,000 connections, but only runs at a limit. */
function findExpendable(among: Iterable<Connection>): Connection | null {
  let idle: Connection | null = null;
  let unread: Connection | null = null;
  for (const connection of among) {
    if (connection.activeRequests === 0) {
      if (idle === null || connection.lastChange < idle.lastChange) idle = connection;
    } else if (connection.socket.writableLength > 0) {
      if (unread === null || connection.lastChange < unread.lastChange) unread = connection;
    }
  }
  return idle ?? unread;
}
