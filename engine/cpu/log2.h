// The logarithm table of VIF without a table look-up: vif_fill_log_table() as polynomials that give the same
// 32,768 integers. tests/tools/fit_log2.cpp fits them, tests/vif_isa_test.cpp compares every entry.
//
// An entry is floor(2048 * log2(i) + 1/2 + 1/1024): the last term is half a step of the f32 that the definition
// rounds the logarithm to, since a logarithm rounded up to a half rounds up again. The nearest distance between
// what is floored and an integer is about 1e-5, and that is what the polynomials' errors have to stay below.
#pragma once
#include <cstdint>

namespace vmafhip {
namespace {

// 32 segments of 1024 entries. With t = entry - middle of the segment, -512 to 511:
//   base + trunc(c[0] + t * (c[1] + t * (c[2] + t * c[3]))), in f32 by fused multiply-adds.
struct Log2By32 {
  alignas(64) float c[4][32];
  alignas(64) int32_t base[32];
};
constexpr Log2By32 kLog2By32 = {
    {{0x1.727b6cp+5f, 0x1.66d02ap+5f, 0x1.5e1292p+5f, 0x1.5176f4p+5f, 0x1.4a17eap+5f, 0x1.40f928p+5f,
      0x1.3709dcp+5f, 0x1.2d26dp+5f,  0x1.2c1c3cp+5f, 0x1.24a764p+5f, 0x1.1f780cp+5f, 0x1.1531aep+5f,
      0x1.0e6ca2p+5f, 0x1.0bb718p+5f, 0x1.0595f6p+5f, 0x1.f90b52p+4f, 0x1.f1f5acp+4f, 0x1.e6c5fcp+4f,
      0x1.d84a1ep+4f, 0x1.d743d2p+4f, 0x1.c469aap+4f, 0x1.c067e6p+4f, 0x1.bbe12cp+4f, 0x1.b76f4cp+4f,
      0x1.b3a3cep+4f, 0x1.a1089cp+4f, 0x1.a02074p+4f, 0x1.916774p+4f, 0x1.955382p+4f, 0x1.8c54b8p+4f,
      0x1.86d5c8p+4f, 0x1.853c46p+4f},
     {0x1.6ba5dep-4f, 0x1.60caf2p-4f, 0x1.56912p-4f,  0x1.4ceac8p-4f, 0x1.43cbcep-4f, 0x1.3b295ap-4f,
      0x1.32f9bcp-4f, 0x1.2b3438p-4f, 0x1.23d0f6p-4f, 0x1.1cc8d6p-4f, 0x1.16156ep-4f, 0x1.0fb0e4p-4f,
      0x1.0995e8p-4f, 0x1.03bfap-4f,  0x1.fc5338p-5f, 0x1.f19f9cp-5f, 0x1.e75cfcp-5f, 0x1.dd847ap-5f,
      0x1.d40fccp-5f, 0x1.caf91ep-5f, 0x1.c23b14p-5f, 0x1.b9d0b4p-5f, 0x1.b1b564p-5f, 0x1.a9e4dcp-5f,
      0x1.a25b24p-5f, 0x1.9b148cp-5f, 0x1.940da2p-5f, 0x1.8d433p-5f,  0x1.86b236p-5f, 0x1.8057e6p-5f,
      0x1.7a31ap-5f,  0x1.743cfp-5f},
     {-0x1.661882p-20f, -0x1.51089cp-20f, -0x1.3dc6cep-20f, -0x1.2c1fc4p-20f, -0x1.1be716p-20f,
      -0x1.0cf636p-20f, -0x1.fe570cp-21f, -0x1.e4d338p-21f, -0x1.cd2d46p-21f, -0x1.b737b8p-21f,
      -0x1.a2ca54p-21f, -0x1.8fc174p-21f, -0x1.7dfd68p-21f, -0x1.6d61f4p-21f, -0x1.5dd5d8p-21f,
      -0x1.4f427ap-21f, -0x1.41938ap-21f, -0x1.34b6c4p-21f, -0x1.289bacp-21f, -0x1.1d335cp-21f,
      -0x1.127056p-21f, -0x1.08465ep-21f, -0x1.fd549ep-22f, -0x1.eb2412p-22f, -0x1.d9e898p-22f,
      -0x1.c99148p-22f, -0x1.ba0eacp-22f, -0x1.ab5296p-22f, -0x1.9d5p-22f,    -0x1.8ffaf4p-22f,
      -0x1.83486cp-22f, -0x1.772e4p-22f},
     {0x1.d624acp-36f, 0x1.ad47dap-36f, 0x1.89050ap-36f, 0x1.68bafcp-36f, 0x1.4be23p-36f,  0x1.320846p-36f,
      0x1.1acc38p-36f, 0x1.05db6p-36f,  0x1.e5de0ep-37f, 0x1.c394dep-37f, 0x1.a4727cp-37f, 0x1.881c48p-37f,
      0x1.6e4398p-37f, 0x1.56a3e4p-37f, 0x1.41015p-37f,  0x1.2d2764p-37f, 0x1.1ae802p-37f, 0x1.0a1a88p-37f,
      0x1.f5362p-38f,  0x1.d8939ap-38f, 0x1.be1504p-38f, 0x1.a5882p-38f,  0x1.8ec016p-38f, 0x1.7994dap-38f,
      0x1.65e286p-38f, 0x1.5388e8p-38f, 0x1.426b06p-38f, 0x1.326ecep-38f, 0x1.237cbp-38f,  0x1.157f68p-38f,
      0x1.0863acp-38f, 0x1.f83008p-39f}},
    {30720, 30811, 30899, 30985, 31068, 31149, 31228, 31305, 31379, 31452, 31523,
     31593, 31661, 31727, 31792, 31856, 31918, 31979, 32039, 32097, 32155, 32211,
     32266, 32320, 32373, 32426, 32477, 32528, 32577, 32626, 32674, 32721}};

// 8 segments of 4096 entries, for look-ups among 8 lanes. With t = entry - middle of the segment, -2048 to 2047:
//   30720 + ((middle + t * slope + round(t * (rest[0] + t * (rest[1] + ... t * rest[4])))) >> kLog2By8Fraction)
// The large parts, middle and slope, are integers in units of 2^-20; what f32 adds has a magnitude of 6 at most.
constexpr int kLog2By8Fraction = 20;
struct Log2By8 {
  alignas(32) float rest[5][8];
  alignas(32) int32_t middle[8];
  alignas(32) int32_t slope[8];
};
constexpr Log2By8 kLog2By8 = {
    {{-0x1.b22784p-3f, -0x1.f04b8cp-3f, -0x1.38f59cp-4f, -0x1.40f858p-3f, 0x1.030f08p-6f, -0x1.206abcp-2f,
      -0x1.5325c6p-2f, 0x1.a67f4cp-3f},
     {-0x1.472816p+0f, -0x1.05e81ep+0f, -0x1.acca72p-1f, -0x1.6575fcp-1f, -0x1.2e8e1p-1f, -0x1.036462p-1f,
      -0x1.c1b2p-2f, -0x1.898abap-2f},
     {0x1.9a8c6ap-16f, 0x1.2611fep-16f, 0x1.b398bap-17f, 0x1.4b8ec4p-17f, 0x1.022e1ap-17f, 0x1.99e748p-18f,
      0x1.4acf6cp-18f, 0x1.0ed312p-18f},
     {-0x1.22ce5ap-31f, -0x1.747d6p-32f, -0x1.f2f4ecp-33f, -0x1.5aa0f8p-33f, -0x1.f0802p-34f,
      -0x1.6cdbfap-34f, -0x1.12199ap-34f, -0x1.a3c73p-35f},
     {0x1.b64c98p-47f, 0x1.f63a9cp-48f, 0x1.304c72p-48f, 0x1.81fed6p-49f, 0x1.fc9ebap-50f, 0x1.5a0f32p-50f,
      0x1.e41282p-51f, 0x1.5abee8p-51f}},
    {188350333, 532945593, 843020562, 1124866051, 1383195951, 1621633879, 1843025469, 2049646286},
    {88987, 79620, 72037, 65773, 60511, 56029, 52165, 48799}};

}  // namespace
}  // namespace vmafhip
