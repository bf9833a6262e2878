/** Preloaded into a process that is to be profiled (`node --import`): SIGUSR2 begins a CPU profile, the next one writes it to PROFILE_FILE. */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const MICROSECONDS_BETWEEN_SAMPLES = 250;

const session = new Session();
let running = false;

process.on('SIGUSR2', async () => {
  running = !running;
  if (running) {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: MICROSECONDS_BETWEEN_SAMPLES });
    await session.post('Profiler.start');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  const file = process.env.PROFILE_FILE;
  writeFileSync(`${file}.part`, JSON.stringify(profile));
  renameSync(`${file}.part`, file); // whoever waits for it finds it whole
  session.disconnect();
});
