// Preloaded by testing/test-process.ts. node:test follows every promise to find the test of an uncaught error, which takes a tenth
// of the tests' processor time. It still follows timers and sockets.
import asyncHooks from 'node:async_hooks';

const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
