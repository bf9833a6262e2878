import { Module } from '@nestjs/common';
import { EventStreams } from './event-streams.service';

@Module({ providers: [EventStreams], exports: [EventStreams] })
export class StreamsModule {}
