<?php
// Runs the programs that it reads, in a namespace whose functions write down what they are asked for.
namespace Sample;

putenv('API_KEY=$API_KEY');
$sent = [];

function stream_context_create(array $options): array
{
    return $options['http'];
}

function file_get_contents(string $name, bool $include = false, ?array $context = null): string
{
    if ($context === null) {
        return 'file';
    }
    if (!isset($context['timeout'])) {
        throw new \Exception('no time limit');
    }
    $headers = [];
    foreach ($context['header'] as $line) {
        [$header, $value] = explode(': ', $line, 2);
        $headers[$header] = $value;
    }
    $isJson = ($headers['Content-Type'] ?? '') === 'application/json';
    $json = $isJson ? json_decode($context['content'], flags: JSON_THROW_ON_ERROR) : null;
    $GLOBALS['sent'][] = ['method' => $context['method'], 'url' => $name, 'headers' => (object) $headers, 'json' => $json];
    return '{"id":"id"}';
}

foreach (json_decode(stream_get_contents(STDIN)) as $source) {
    ob_start();
    eval('namespace Sample; use RuntimeException, stdClass; ' . substr($source, strlen('<?php')));
    ob_end_clean();
}
echo json_encode($sent);
