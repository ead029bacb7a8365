import { commonArgs, defineCommand } from '../args/command.ts'
import { waitArg } from '../wait.ts'

export default defineCommand({
  meta: { name: 'serve', description: 'Serve the API and the web chat until SIGTERM or SIGINT' },
  example: 'chat-server serve --port 8080 --database sqlite:./data/chat.db',
  args: {
    port: { type: 'string', description: 'Port to listen on; 0 picks a free one (server.port)' },
    host: { type: 'string', description: 'Address to listen on (server.host)' },
    socket: { type: 'string', description: 'Unix domain socket to listen on instead (server.socket)' },
    workers: { type: 'string', description: 'Processes that share the port, on PostgreSQL (cluster.workers)' },
    open: { type: 'boolean', description: 'Show it in the browser' },
    qr: { type: 'boolean', description: 'Print a QR code of its address for a phone; needs the package listhen' },
    ...waitArg,
    'no-web': { type: 'boolean', description: 'Leave out the web chat (server.web)' },
    strict: { type: 'boolean', description: 'Refuse to start if there is a warning' },
    ...commonArgs,
  },
  // Loaded on demand: the help of a command needs no database driver.
  run: async ({ args }) => (await import('../server/serve.ts')).serve(args),
})
