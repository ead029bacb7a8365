// Readers in a process of their own: what they cost this machine is not in the times that the process of the bench measures.
// node --import tsx listeners.ts <port> <count> <opening> <until>
import { openReaders } from './reader.ts'

const [port, count, send, until] = process.argv.slice(2) as [string, string, string, string]

function lost(error: Error): never {
  console.error(error)
  process.exit(1)
}

await openReaders(Number(port), [{ send, until }], Number(count), { marker() {}, lost })
console.log('All read')
