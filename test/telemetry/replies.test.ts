import t from 'tap'
import { Replies } from '../../src/telemetry/replies.ts'

t.test('counts replies by route, method and status, with bytes and a histogram of their time', async (t) => {
  const replies = new Replies()
  replies.count('/capture', 'POST', 200, 1, 1000)
  replies.count('/capture', 'POST', 200, 1.1, 24)
  replies.count('/capture', 'POST', 503, 10_000, 0)
  replies.count('/capture', 'GET', 200, 30_000, 0)
  replies.count('/docs', 'GET', 200, 0, 0)
  const lines = replies.text().split('\n')
  t.same(
    lines.filter((line) => line.startsWith('spate_http_requests_total')),
    [
      'spate_http_requests_total{route="/capture",method="POST",status="200"} 2',
      'spate_http_requests_total{route="/capture",method="POST",status="503"} 1',
      'spate_http_requests_total{route="/capture",method="GET",status="200"} 1',
      'spate_http_requests_total{route="/docs",method="GET",status="200"} 1',
    ],
  )
  t.same(
    lines.filter((line) => line.startsWith('spate_http_received_bytes_total')),
    [
      'spate_http_received_bytes_total{route="/capture"} 1024',
      'spate_http_received_bytes_total{route="/docs"} 0',
    ],
  )
  const ofCapture = lines.filter((line) => /^spate_http_request_seconds.*capture/.test(line))
  t.same(
    ofCapture.map((line) => Number(line.split(' ')[1])),
    // At most 1, 2, 5, … ms, all of them; their sum and their count.
    [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 40.0021, 4],
  )
  t.equal(ofCapture[0], 'spate_http_request_seconds_bucket{le="0.001",route="/capture"} 1')
  t.equal(ofCapture[13], 'spate_http_request_seconds_bucket{le="+Inf",route="/capture"} 4')
  t.equal(ofCapture[15], 'spate_http_request_seconds_count{route="/capture"} 4')
})

t.test('is text that Prometheus reads', async (t) => {
  const replies = new Replies()
  replies.count('/a', 'GET', 200, 1, 0)
  const [requests, received, seconds] = replies.text().split('\n\n')
  t.match(
    requests,
    /^# HELP spate_http_requests_total .*\n# TYPE spate_http_requests_total counter\nspate_http_requests_total\{/,
  )
  t.match(received, '# TYPE spate_http_received_bytes_total counter\n')
  t.match(seconds, '# TYPE spate_http_request_seconds histogram\nspate_http_request_seconds_bucket{')
  t.match(seconds, /[0-9]\n$/)
})
