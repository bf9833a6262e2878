/** What the console shows and verifies of one call, in one scene. */
import './pages/verification';
import './pages/call';
import { callTimelines } from '../support/reconciliation/call-timelines';

afterAll(async () => (await callTimelines()).close());
