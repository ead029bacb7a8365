import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Audience, openAudience } from '../load/audience.ts'
import type { ChatTarget } from '../load/deliver.ts'
import type { Step } from '../load/reader.ts'

/** A room of a server, with its readers. */
export interface OpenRoom {
  target: Omit<ChatTarget, 'steps'>
  audience: Audience
  stop(): Promise<void>
}

/** A room of another chat or message server, which stores what is posted. */
export interface PeerRoom extends OpenRoom {
  /** @returns the number of posts that it has stored */
  countStored(): number | Promise<number>
}

/** Another server with rooms. */
export interface RoomPeer {
  name: string
  /** @returns why it cannot be run on this machine */
  missing(): string | undefined
  /** Starts it, and opens a room for so many readers. */
  open(readers: number): Promise<PeerRoom>
}

/** The readers of a server stay for all rounds: who joins a room may be shown to all others. */
export async function withAudience<T extends Omit<ChatTarget, 'steps'>>(
  server: { port: number; stop(): Promise<void> },
  target: T,
  openings: Step[][],
): Promise<OpenRoom> {
  try {
    const audience = await openAudience(server.port, openings)
    const stop = () => {
      audience.close()
      return server.stop()
    }
    return { target, audience, stop }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** @returns the path of a program, or undefined where it is not installed */
export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
