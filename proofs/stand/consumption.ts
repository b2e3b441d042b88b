// What a process uses, seen from outside. Needs Linux.
import { readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** What a process holds in memory, in bytes: heap, libraries, and what SQLite and sockets hold. */
export const residentBytes = (pid: number): number => bytesIn(pid, 'VmRSS');

/** The most memory that a process has held at any moment so far, in bytes. */
export const peakBytes = (pid: number): number => bytesIn(pid, 'VmHWM');

function bytesIn(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1];
  if (kilobytes === undefined) throw new Error(`Process ${pid} does not say how much memory it has.`);
  return Number(kilobytes) * 1024;
}

/** Processor time that a process has taken, in seconds: the 14th and 15th field of its stat. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
