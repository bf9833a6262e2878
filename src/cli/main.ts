import { runCommand } from './program';

void runCommand(process.argv.slice(2));
