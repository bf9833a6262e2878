/** What the console shows of many calls, in one scene. */
import './pages/lists';
import './pages/exports';
import { callsScene } from '../support/console/calls-scene';

afterAll(async () => (await callsScene()).close());
