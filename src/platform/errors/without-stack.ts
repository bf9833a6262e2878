/** Makes an error without its stack trace. The trace takes most of the time of an expected error. */
export function withoutStack<Made extends Error>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
