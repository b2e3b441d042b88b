import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';

import { log } from '#desk/endpoints/auth.ts';
import {
  addPasskey,
  passkeySignInOptions,
  signInWithPasskey,
  newPasskeyOptions,
  passkeys,
} from '#desk/endpoints/passkeys.ts';
import { callApi } from '#desk/web/api-client.ts';
import { choosePasskey, createPasskey } from '#desk/web/passkeys/passkeys.ts';
import { reloadDeskUser, useAbortSignal } from '#desk/web/queries.ts';

type Outcome = 'done' | 'cancelled';

export function useAddPasskey(): UseMutationResult<Outcome, Error, string> {
  const client = useQueryClient();
  const newSignal = useAbortSignal();
  return useMutation<Outcome, Error, string>({
    mutationFn: async (name) => {
      const signal = newSignal();
      const credential = await createPasskey(await callApi(newPasskeyOptions, {}, signal), signal);
      if (credential === null) return 'cancelled';
      await callApi(addPasskey, { name, credential });
      return 'done';
    },
    meta: { needs: addPasskey.needs },
    onSuccess: () =>
      Promise.all([passkeys, log].map(({ path }) => client.invalidateQueries({ queryKey: [path] }))),
  });
}

export function useSignInWithPasskey(onSignedIn: () => void): UseMutationResult<Outcome, Error, void> {
  const client = useQueryClient();
  const newSignal = useAbortSignal();
  return useMutation<Outcome>({
    mutationFn: async () => {
      const signal = newSignal();
      const credential = await choosePasskey(await callApi(passkeySignInOptions, {}, signal), signal);
      if (credential === null) return 'cancelled';
      await callApi(signInWithPasskey, { credential });
      await reloadDeskUser(client);
      onSignedIn();
      return 'done';
    },
    meta: { needs: signInWithPasskey.needs },
  });
}
