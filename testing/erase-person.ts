import { createProofEraser } from '#server/consent/chain.ts';
import { erasePersonalData } from '#server/db/queries/personal-data.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

export const erasePerson = ({ database, service, now }: ServerUnderTest, email = 'ada@example.com') =>
  database.db.transaction().execute((tx) =>
    erasePersonalData(tx, {
      email,
      pseudonyms: pseudonymsOf(service.secrets, email),
      eraseProofs: createProofEraser(service.secrets, now()),
      now: now(),
    }),
  );
