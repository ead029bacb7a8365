import { basePathOf } from '../../lib/config/base-path.ts'
import { idleSeconds, stopTimeout, toPublicUrl, toUpstream } from './facts.ts'
import type { Target } from './target.ts'

/** Pods, their configuration and their addresses. */
export const kubernetes: Target = {
  description: 'Write a ConfigMap, a Deployment with probes, a Service and an Ingress for Kubernetes',
  files: ({ config }) => {
    const { hostname } = toPublicUrl(config)
    const base = basePathOf(config)
    const delay = Math.max(10, config.server.drain_delay_seconds)
    return [
      {
        name: 'kubernetes.yaml',
        example: 'examples/deploy/kubernetes.yaml',
        replace: [
          ['https://chat.example.org', toPublicUrl(config).href.replace(/\/$/, '')],
          ['chat.example.org', hostname],
          ['drain_delay_seconds = 10', `drain_delay_seconds = ${delay}`],
          ['terminationGracePeriodSeconds: 40', `terminationGracePeriodSeconds: ${stopTimeout(config, delay)}`],
          ['(20)', `(${config.sse.heartbeat_seconds})`],
          ['proxy-read-timeout: "60"', `proxy-read-timeout: "${idleSeconds(config)}"`],
          ...(base
            ? ([
                [
                  '          - path: /\n            pathType: Prefix',
                  `          - path: ${base}/?(.*)\n            pathType: ImplementationSpecific`,
                ],
                ['  annotations:', '  annotations:\n    nginx.ingress.kubernetes.io/rewrite-target: /$1'],
              ] as const)
            : []),
        ],
      },
    ]
  },
  next: () => [
    "kubectl create secret generic chat-server --from-literal=database_url='postgres://chat:…@postgres/chat'",
    'kubectl apply --dry-run=server -f kubernetes.yaml',
    'kubectl apply -f kubernetes.yaml',
    'kubectl exec -it deploy/chat-server -- chat-server setup --email you@example.org',
  ],
}

/** What Prometheus collects, and what it reports. */
export const prometheus: Target = {
  description: 'Write a configuration for Prometheus, alerts, and a dashboard for Grafana',
  files: ({ config }) => [
    {
      name: 'prometheus.yaml',
      example: 'examples/monitoring/prometheus.yaml',
      replace: [
        ['127.0.0.1:8080', toUpstream(config)],
        ...(config.metrics.token === undefined ? TOKEN_LINES.map((line) => [line, ''] as const) : []),
      ],
    },
    ...['alerts.yaml', 'grafana-dashboard.json'].map((name) => ({
      name,
      example: `examples/monitoring/${name}`,
      replace: [],
    })),
  ],
  next: ({ config }) => [
    ...(config.metrics.token === undefined
      ? []
      : ['install -m 600 /dev/stdin chat-server.token  # type metrics.token, then Ctrl-D']),
    'promtool check config prometheus.yaml',
    'prometheus --config.file=prometheus.yaml',
  ],
}

const TOKEN_LINES = [
  '# The file chat-server.token holds the value of metrics.token, and nothing else.',
  '    authorization:',
  '      type: Bearer',
  '      credentials_file: chat-server.token',
]
