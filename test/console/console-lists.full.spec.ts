/** The lists of calls and payouts, in one scene. */
import './pages/lists';
import './pages/exports';
import { callsScene } from '../support/console/calls-scene';

afterAll(async () => (await callsScene()).close());
