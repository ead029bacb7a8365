// Several processes that share a port, each a node of one chat: node:cluster and PostgreSQL.
//
//   npx tsx examples/embed-cluster.ts postgres://chat:secret@127.0.0.1/chat     PORT=3000 by default, 0 picks a free one
//   curl http://127.0.0.1:3000/healthz
import cluster from 'node:cluster'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { serve } from 'chat-server/h3'

const WORKERS = 2
const database = process.argv[2] ?? 'postgres://chat:secret@127.0.0.1/chat'

if (cluster.isPrimary) await startWorkers()
else await startNode()

/** Migrates the schema once, then starts the workers, and replaces those that die. */
async function startWorkers(): Promise<void> {
  const storage = await openStorage({ database })
  await storage.migrate()
  await storage.close()

  let isStopping = false
  const stop = () => {
    isStopping = true
    for (const worker of Object.values(cluster.workers ?? {})) worker?.send('stop')
  }
  process.once('SIGTERM', stop).once('SIGINT', stop)
  cluster.on('exit', () => isStopping || setTimeout(() => isStopping || cluster.fork(), 1_000))
  for (let i = 0; i < WORKERS; i++) cluster.fork()
}

/** Each worker has its own service and its own connections. */
async function startNode(): Promise<void> {
  // `cluster.workers` divides the default rate limit among the workers.
  const config = parseConfig({ cluster: { workers: WORKERS }, storage: { migrate: false } })
  const chat = createChatService(config, await openStorage({ database, pool_size: 5 }))
  await chat.start()
  const server = await serve(chat, { port: Number(process.env.PORT ?? 3000) })
  console.log(`Worker ${cluster.worker?.id} listens on ${server.url}.`)

  // A terminal sends Ctrl-C to the workers, too: only the primary process decides.
  process.on('SIGINT', () => {})
  process.once('message', async () => {
    await server.close()
    await chat.close()
    process.exit(0)
  })
}
