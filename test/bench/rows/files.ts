import { createFileClient } from '../load/files.ts'
import { httpRequest } from '../load/http.ts'
import { perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { processFiguresMissing, residentBytes } from '../machine.ts'
import { type Bench, interleaveWarm, type Row } from '../row.ts'
import { type Service, startService } from '../servers/service.ts'

export const MIB = 1024 * 1024

/** The size of a file; of short rounds (`--quick`) a sixteenth. */
const SIZE = 1024 * MIB
const QUICK_SECONDS = 1

const UPLOADS = 20
const UPLOADS_BESIDE = 10
const UNDER_WAY = 32

/** What else it has read is in the memory of the service, too: it is measured this often while files arrive. */
const LOOK_MS = 20

const RANGES = 50

/** The size of the file of a row. */
export const sizeFor = ({ seconds }: Bench) => (seconds > QUICK_SECONDS ? SIZE : SIZE / 16)

/** Runs `work` with a service that takes files of any size. */
export async function withFiles<T>({ command }: Bench, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService(command, {
    CHAT_ATTACHMENTS__MAX_BYTES: String(2 * SIZE),
    CHAT_ATTACHMENTS__PER_USER_BYTES: '0',
  })
  return work(service).finally(service.stop)
}

const repeat = async (rounds: number, measure: () => Promise<number>) => {
  const measured = []
  for (let round = 0; round < rounds; round++) measured.push({ service: await measure() })
  return measured
}

export const uploadRate: Row = {
  name: 'upload',
  title: 'upload of 1 GiB to a folder, 3 parts at once, each flushed',
  unit: 'MB/s',
  better: 'higher',
  reach: 200,
  beyond: 300,
  measure: (bench) =>
    withFiles(bench, async (service) => {
      const { upload } = createFileClient(service)
      const size = sizeFor(bench)
      return repeat(Math.min(bench.rounds, 3), async () => {
        const began = performance.now()
        await upload(size)
        return size / 1000 / (performance.now() - began)
      })
    }),
}

export const uploadMemory: Row = {
  name: 'upload-memory',
  title: `resident memory beyond rest for each of ${UPLOADS} uploads at once`,
  unit: 'MiB',
  better: 'lower',
  reach: 12,
  beyond: 6,
  unavailable: processFiguresMissing,
  measure: (bench) =>
    withFiles(bench, async (service) => {
      const { upload } = createFileClient(service)
      await upload(8 * MIB)
      const rest = residentBytes(service.pid)
      return repeat(Math.min(bench.rounds, 3), async () => {
        let most = rest
        const look = setInterval(() => {
          most = Math.max(most, residentBytes(service.pid))
        }, LOOK_MS)
        await Promise.all(Array.from({ length: UPLOADS }, () => upload(Math.ceil(sizeFor(bench) / UPLOADS)))).finally(
          () => clearInterval(look),
        )
        return (most - rest) / UPLOADS / MIB
      })
    }),
}

export const rangeAtEnd: Row = {
  name: 'range-end',
  title: `first byte of a range at the end of 1 GiB, the slowest of ${RANGES}`,
  unit: 'ms',
  better: 'lower',
  reach: 10,
  beyond: 5,
  measure: (bench) =>
    withFiles(bench, async (service) => {
      const { upload, firstByte } = createFileClient(service)
      const size = sizeFor(bench)
      const id = await upload(size)
      return repeat(bench.rounds, async () => {
        const times: number[] = []
        for (let n = 0; n < RANGES; n++) times.push(await firstByte(id, `bytes=${size - 1000 - n}-`))
        return Math.max(...times)
      })
    }),
}

export const postsBesideUploads: Row = {
  name: 'posts-uploads',
  title: `posts, ${UNDER_WAY} under way, while ${UPLOADS_BESIDE} files are uploaded`,
  unit: '/s',
  peer: 'the same without uploads',
  better: 'higher',
  reach: 0.8,
  beyond: 0.95,
  measure: (bench) =>
    withFiles(bench, (service) => {
      const { pid, port, headers, rootId } = service
      const body = { content: postContent(0) }
      const requests = [httpRequest('POST', `/api/messages/${rootId}/reply`, { headers, body })]
      const post = async () => perSecond(await repeatRequest({ pid, port, requests }, UNDER_WAY, bench.seconds))
      // Connections of their own: those of an earlier round may be closed at the moment they are used.
      const upload = (size: number) => createFileClient(service).upload(size)
      async function postBesideUploads(): Promise<number> {
        let isOver = false
        const uploads = Array.from({ length: UPLOADS_BESIDE }, async () => {
          while (!isOver) await upload(16 * MIB)
        })
        const rate = await post().finally(() => {
          isOver = true
        })
        await Promise.all(uploads)
        return rate
      }
      return interleaveWarm(bench.rounds, postBesideUploads, post)
    }),
}
