import { Logger } from '@nestjs/common';
import { COMMAND_LOG } from './command-log';
import { runCommand } from './program';

Logger.overrideLogger(COMMAND_LOG);
void runCommand(process.argv.slice(2));
