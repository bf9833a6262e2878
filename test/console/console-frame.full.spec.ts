/** The frame of all console pages, and the overview, in one scene. */
import './pages/overview';
import './pages/frame';
import { consoleScene } from '../support/console/console-scene';

afterAll(async () => (await consoleScene()).close());
