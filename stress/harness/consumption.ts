import { readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** Includes libraries, SQLite and sockets. */
export const residentBytes = (pid: number): number => bytesIn(pid, 'VmRSS');

export const peakBytes = (pid: number): number => bytesIn(pid, 'VmHWM');

function bytesIn(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status does not contain the memory.`);
  return Number(kilobytes) * 1024;
}

/** Seconds: fields 14 and 15 of /proc/PID/stat. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
