import { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Logger } from 'nestjs-pino';
import { HeartbeatService } from '../continuity/heartbeat/heartbeat.service';
import { SpaceService } from '../continuity/space/space.service';
import { checkedSettings } from '../operations/checked-settings';
import { RunningConfig } from '../platform/config/config';
import { WorkerModule } from './worker.module';

/** Connections of a worker's own. Readers, the sealer, the jobs' locks and each run have others. */
const POOL_SIZE = 3;

/** Creates a worker at work. `npm start`, `npm run worker` and the tests share it. */
export async function createWorker(configured: RunningConfig): Promise<INestApplicationContext> {
  const settings = checkedSettings({ ...configured, databasePoolSize: POOL_SIZE });
  const worker = await NestFactory.createApplicationContext(WorkerModule.with(settings), {
    logger: ['fatal', 'error', 'warn'], // messages about the assembly of the application are not needed
    abortOnError: false,
  });
  worker.useLogger(worker.get(Logger));
  await worker.get(HeartbeatService).start();
  await worker.get(SpaceService).start();
  return worker;
}
