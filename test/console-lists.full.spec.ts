/** What the console shows of many calls, in one scene. */
import './console/lists';
import './console/exports';
import { callsScene } from './support/calls-scene';

afterAll(async () => (await callsScene()).close());
