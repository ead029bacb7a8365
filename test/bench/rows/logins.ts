import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { openPoster, type Poster } from '../load/poster.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { type Credentials, createUsers, type Service, startService } from '../servers/service.ts'

const LOGINS = 64

/** A hash takes some 50 ms, so that a round lasts seconds; at the default cost the queue is longer, not the wait of others. */
const ENVIRONMENT = {
  // Sign-ins wait for each other by person and by network: these are of 64 people in 64 networks, behind one proxy.
  CHAT_SERVER__TRUSTED_PROXIES: '127.0.0.1',
  CHAT_SECURITY__PASSWORD__BCRYPT_COST: '10',
  // The session that is measured would be among those that end.
  CHAT_SESSION__MAX_SESSIONS_PER_USER: 'false',
}

/** How long one call waits while many people sign in at once, compared with the same call without sign-ins. */
export const meLogins: Row = {
  name: 'me-logins',
  title: `p99 of GET /api/auth/me during ${LOGINS} sign-ins at once`,
  unit: 'ms',
  peer: 'without them',
  better: 'lower',
  reach: 5,
  beyond: 2,
  measure: async ({ rounds, seconds, command }) => {
    const service = await startService(command, ENVIRONMENT)
    try {
      const people = await createUsers(service, LOGINS)
      return await interleaveWarm(
        rounds,
        () => callsDuring(service, (fail) => signIns(service, people, fail)),
        () => callsDuring(service, () => new Promise((resolve) => setTimeout(resolve, seconds * 1000))),
      )
    } finally {
      await service.stop()
    }
  },
}

/** Calls one after another for as long as `load` lasts. @returns the 99th percentile of how long they took, in ms */
async function callsDuring(
  { port, headers }: Service,
  load: (fail: (error: Error) => void) => Promise<void>,
): Promise<number> {
  const { fail, or } = createFailure()
  const request = httpRequest('GET', '/api/auth/me', { headers })
  const durations: number[] = []
  let sent = 0
  const poster: Poster = openPoster(
    port,
    () => {
      durations.push(performance.now() - sent)
      send()
    },
    fail,
  )
  const send = () => {
    sent = performance.now()
    poster.send(request)
  }
  try {
    send()
    await or(load(fail))
  } finally {
    poster.close()
  }
  if (durations.length < 100) throw new Error(`only ${durations.length} calls were answered`)
  return durations.sort((a, b) => a - b)[Math.floor(durations.length * 0.99)]!
}

async function signIns({ port }: Service, people: Credentials[], fail: (error: Error) => void): Promise<void> {
  const signIn = (body: Credentials, n: number) =>
    new Promise<void>((resolve) => {
      const request = httpRequest('POST', '/api/auth/login', { body, headers: { 'x-forwarded-for': `10.${n}.0.1` } })
      const poster = openPoster(
        port,
        () => {
          // The server would end an idle connection while the others still wait.
          poster.close()
          resolve()
        },
        fail,
      )
      poster.send(request)
    })
  await Promise.all(people.map(signIn))
}
