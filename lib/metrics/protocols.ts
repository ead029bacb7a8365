import type { Family } from './page.ts'

/** The protocols in which answers are streamed beside the events of the service. */
export const PROTOCOLS = ['ui_stream', 'openai_api', 'ag_ui'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** The open streams of answers, by protocol. */
export function createProtocolMetrics() {
  const open = new Map<Protocol, number>(PROTOCOLS.map((protocol) => [protocol, 0]))
  const add = (protocol: Protocol, count: number) => void open.set(protocol, open.get(protocol)! + count)
  const family: Family = {
    name: 'chat_protocol_streams',
    help: 'Open streams of answers in the format of a protocol',
    type: 'gauge',
    read: () => [...open].map(([protocol, value]) => ({ labels: { protocol }, value })),
  }
  return {
    family,
    /** Counts a stream that has opened. @returns a function to call once when it ends */
    opened(protocol: Protocol): () => void {
      add(protocol, 1)
      return () => add(protocol, -1)
    },
  }
}
