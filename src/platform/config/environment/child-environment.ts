/** Variables that programs need to find their files. Any other variable may be a secret of ours. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LD_LIBRARY_PATH', 'NODE_OPTIONS'];

/** The environment of a process that the proxy starts. It has no database password and no upstream key. */
export function childEnvironment(own: Record<string, string>): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...(Object.fromEntries(passedOn) as NodeJS.ProcessEnv), ...own };
}
