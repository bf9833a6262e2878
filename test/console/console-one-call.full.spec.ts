/** What the console shows and verifies of one call, in one scene. */
import './pages/verification';
import './pages/call';
import { callStories } from '../support/reconciliation/call-stories';

afterAll(async () => (await callStories()).close());
