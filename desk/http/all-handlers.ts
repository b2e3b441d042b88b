// Every call of the door with the function that answers it. Those about people and figures are in desk/http/answers/.
import * as door from '#desk/calls/door.ts';
import type { Call } from '#desk/calls/call.ts';
import * as doorAnswers from '#desk/http/door/door-answers.ts';
import type { DoorContext } from '#desk/http/door/door-answers.ts';

/** A call, and what answers it once the request was checked. */
export type Answered = {
  readonly call: Call<unknown, unknown>;
  readonly handle: (context: DoorContext, asked: unknown) => Promise<unknown>;
};

/** @param handle null when what was asked for is not there */
const answered = <What, Answer>(
  call: Call<What, Answer>,
  handle: (context: DoorContext, asked: What) => Promise<Answer | null>,
): Answered => ({ call, handle: handle as Answered['handle'] });

export const ANSWERED: readonly Answered[] = [
  answered(door.me, doorAnswers.me),
  answered(door.sessions, doorAnswers.sessions),
  answered(door.endSession, doorAnswers.endSession),
  answered(door.log, doorAnswers.log),
];
