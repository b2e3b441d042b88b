// Finds the socket that systemd listens on and hands over (sd_listen_fds(3)). While no process serves, connections wait in it.
import cluster from 'node:cluster';

const FIRST_FD = 3;

/** The first socket that was handed to this process, or to its primary; null if there is none. */
export function inheritedSocket(
  env: NodeJS.ProcessEnv = process.env,
  owner = cluster.isWorker ? process.ppid : process.pid,
): { readonly fd: number } | null {
  const isOurs = Number(env['LISTEN_PID']) === owner;
  return isOurs && Number(env['LISTEN_FDS']) >= 1 ? { fd: FIRST_FD } : null;
}
