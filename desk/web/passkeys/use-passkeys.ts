import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';

import { log } from '#desk/endpoints/auth.ts';
import { addPasskey, askPasskey, enterPasskey, newPasskey, passkeys } from '#desk/endpoints/passkeys.ts';
import { ask } from '#desk/web/ask.ts';
import { choosePasskey, makePasskey } from '#desk/web/passkeys/passkeys.ts';
import { meetPerson, useSignal } from '#desk/web/queries.ts';

type Outcome = 'done' | 'cancelled';

export function useAddPasskey(): UseMutationResult<Outcome, Error, string> {
  const client = useQueryClient();
  const newSignal = useSignal();
  return useMutation<Outcome, Error, string>({
    mutationFn: async (name) => {
      const signal = newSignal();
      const credential = await makePasskey(await ask(newPasskey, {}, signal), signal);
      if (credential === null) return 'cancelled';
      await ask(addPasskey, { name, credential });
      return 'done';
    },
    meta: { needs: addPasskey.needs },
    onSuccess: () =>
      Promise.all([passkeys, log].map(({ path }) => client.invalidateQueries({ queryKey: [path] }))),
  });
}

export function useEnterWithPasskey(onIn: () => void): UseMutationResult<Outcome, Error, void> {
  const client = useQueryClient();
  const newSignal = useSignal();
  return useMutation<Outcome>({
    mutationFn: async () => {
      const signal = newSignal();
      const credential = await choosePasskey(await ask(askPasskey, {}, signal), signal);
      if (credential === null) return 'cancelled';
      await ask(enterPasskey, { credential });
      await meetPerson(client);
      onIn();
      return 'done';
    },
    meta: { needs: enterPasskey.needs },
  });
}
