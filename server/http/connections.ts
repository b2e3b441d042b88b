// Who may hold how many connections. A connection costs its owner nothing, so somebody who opens five thousand must not be
// able to keep everybody else out: the oldest one on which we are waiting gives way to the newest.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyBaseLogger } from 'fastify';

import {
  inOrder,
  leaveQueue,
  newPlace,
  newQueue,
  queueUp,
  type Place,
  type Queue,
} from '#server/http/linked-queue.ts';
import { peerAddress, type IsProxy } from '#server/http/visitor-address.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { CONNECTIONS } from '#server/settings/tries-and-rates.ts';
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
  /** Null for a proxy, which has no share of its own. */
  readonly network: string | null;
  /** Its places among those that share a bound with it. */
  readonly places: readonly { readonly group: Group; readonly place: Place<Connection> }[];
  requestsInHand: number;
};

/** Those that share a bound. Each queue in the order of time. */
type Group = {
  /** We wait for them: no request yet, half a request, or none after the last. */
  readonly idle: Queue<Connection>;
  /** They wait for our answer, or are reading it. */
  readonly busy: Queue<Connection>;
  size: number;
};

const newGroup = (): Group => ({ idle: newQueue(), busy: newQueue(), size: 0 });

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
 * Keeps the connections of a server within their bounds. At a bound, the oldest idle one it applies to is ended for the
 * new one; if none is idle, the oldest whose reader does not take its answer; if there is none either, the new one itself.
 * One with a whole request in hand is never ended before its answer is made.
 */
export function boundConnections(
  server: Server,
  { limits = CONNECTIONS, isProxy, metrics, logger }: ConnectionParts,
): void {
  const connections = new Map<Socket, Connection>();
  const networks = new Map<string, Group>();
  const visitors = newGroup();
  const proxies = newGroup();
  const minuteLog = createMinuteLog<ConnectionBound>(
    logger,
    ['network', 'process'],
    'There are too many connections: idle ones were ended, or new ones refused.',
  );
  server.once('close', minuteLog.close);

  const enter = (socket: Socket, network: string | null): void => {
    const shared = network === null ? null : (networks.get(network) ?? newGroup());
    if (network !== null && shared !== null) networks.set(network, shared);
    const groups = shared === null ? [proxies] : [visitors, shared];
    const places: { group: Group; place: Place<Connection> }[] = [];
    const connection: Connection = { socket, network, places, requestsInHand: 0 };
    for (const group of groups) {
      const place = newPlace(connection);
      queueUp(place, group.idle);
      group.size += 1;
      places.push({ group, place });
    }
    connections.set(socket, connection);
    socket.once('close', () => leave(connection));
    metrics.connectionsOpen(connections.size);
  };

  const leave = (connection: Connection): void => {
    if (!connections.delete(connection.socket)) return;
    for (const { group, place } of connection.places) {
      leaveQueue(place);
      group.size -= 1;
    }
    const { network } = connection;
    if (network !== null && networks.get(network)?.size === 0) networks.delete(network);
    metrics.connectionsOpen(connections.size);
  };

  const move = (connection: Connection, to: 'idle' | 'busy'): void => {
    if (!connections.has(connection.socket)) return;
    for (const { group, place } of connection.places) queueUp(place, group[to]);
  };

  /** Whether one of the group could be ended. */
  const makeRoom = (group: Group): boolean => {
    const leaving = group.idle.after.item ?? firstUnread(group.busy);
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
      // Reset before it was taken: nobody to answer, and nothing known of them to be written down with what they sent.
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
      if (!makeRoom(visitors) && !makeRoom(proxies)) {
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
    let isInHand = false;
    const takeInHand = () => {
      if (response.closed) return;
      isInHand = true;
      connection.requestsInHand += 1;
      move(connection, 'busy');
    };
    if (hasBody(request)) request.once('end', takeInHand);
    else takeInHand();
    // Not "once": it comes once in any case, and taking a listener away again costs more than adding it.
    response.on('close', () => {
      if (isInHand) connection.requestsInHand -= 1;
      if (connection.requestsInHand === 0) move(connection, 'idle');
    });
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** The first whose answer waits to be taken: what the system keeps for a reader is full. */
function firstUnread(queue: Queue<Connection>): Connection | null {
  for (const connection of inOrder(queue)) if (connection.socket.writableLength > 0) return connection;
  return null;
}
