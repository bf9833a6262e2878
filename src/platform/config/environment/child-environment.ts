/** Variables with which programs find their files. All others may be secrets. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LD_LIBRARY_PATH', 'NODE_OPTIONS'];

/** Returns the environment of a child process, without the database password and the upstream key. */
export function childEnvironment(own: Record<string, string>): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  return { ...(Object.fromEntries(passedOn) as NodeJS.ProcessEnv), ...own };
}
