// The person who is signed in, for the parts of a page: what may this reader press?
import { createContext, use } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';

export const PersonContext = createContext<Me | null>(null);

/** The person who is signed in. Only inside the frame, which shows nothing without one. */
export function usePerson(): Me {
  const person = use(PersonContext);
  if (person === null) throw new Error('No person is signed in.');
  return person;
}

/** Whether the reader may export, correct, erase and suppress. What a reader may not press is not shown. */
export const useMayChange = (): boolean => usePerson().role === 'all';
