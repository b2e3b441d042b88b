import { CommandFailure } from '#desk/command-failure.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { listPersonalData, type PersonalData } from '#server/db/queries/personal-data.ts';
import { asciiAddress, normaliseEmail } from '#shared/lead.ts';

export function readEmail(typed: string): string {
  if (asciiAddress(typed.trim()) === null) {
    throw new CommandFailure(
      `"${typed}" is not an e-mail address. Enter the complete address, such as ada@example.com.`,
      2,
    );
  }
  return normaliseEmail(typed);
}

/** @throws {CommandFailure} if nothing is stored about the person */
export async function requirePersonalData(db: Db, email: string): Promise<PersonalData> {
  const data = await listPersonalData(db, email);
  if (Object.values(data).every((rows) => rows.length === 0)) throw noDataStored(email);
  return data;
}

export const noDataStored = (email: string): CommandFailure =>
  new CommandFailure(
    `No data is stored about ${email}. Unverified forms are deleted after RETENTION_DAYS. The person may also have used another e-mail address.`,
  );
