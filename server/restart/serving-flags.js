// What Node is told about memory when it starts the process that serves (docs/decisions/0019-what-starting-leaves.md). In plain JavaScript,
// as the primary is. Whoever starts that process alone types them: they stand in the Dockerfile and in docs/operating.md too.

export const SERVING_FLAGS = [
  // An idle process collects no garbage: it would forget compiled code, and the visitors after each pause would cost a quarter more.
  '--no-memory-reducer',
  // Room for young objects, in MiB. Node itself would let it grow to 64, twice over: 86 MiB more under load, and not one flow more.
  '--max-semi-space-size=16',
];
